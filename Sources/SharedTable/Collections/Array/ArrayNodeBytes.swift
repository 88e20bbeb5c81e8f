/// A stored node's bytes on their way into the table.
struct ArrayNodeBytes: TableValue {
  let bytes: [UInt8]

  static var tableType: ValueType { .structure }
  static var tableFingerprint: UInt64 { ArrayNode.fingerprint }
  static var tableAlignmentShift: Int { 4 }

  init(_ node: ArrayNode) { bytes = node.bytes }
  init?(tableBytes: UnsafeRawBufferPointer) { unsafe bytes = [UInt8](tableBytes) }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withTableBytes(body)
  }
}
