import SharedTable

/// A key of 16 bytes that is passed without an allocation.
struct Key: TableKey, Hashable {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  @inline(__always)
  init(at address: UnsafeRawPointer) {
    high = address.loadUnaligned(as: UInt64.self)
    low = address.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
  }

  @inline(__always)
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = withUnsafeBytes(of: self) { bytes in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
