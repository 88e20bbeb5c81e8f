@testable import SharedTable

/// What a program with a defect could store as a page of a collection's index.
struct ForgedPage: TableValue {
  let bytes: [UInt8]
  static var tableType: ValueType { ElementPage.tableType }
  static var tableFingerprint: UInt64 { ElementPage.tableFingerprint }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withTableBytes(body)
  }
  init(bytes: [UInt8]) { self.bytes = bytes }
  init?(tableBytes: UnsafeRawBufferPointer) { unsafe bytes = [UInt8](tableBytes) }
}
