import SharedTable

/// A key of 16 bytes that is passed without an allocation.
struct Key: TableKey {
  let high: UInt64
  let low: UInt64

  @inline(__always)
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes(of: self) { bytes throws(E) in try unsafe body(bytes) }
  }
}
