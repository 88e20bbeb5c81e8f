import SharedTable

/// A key of 16 bytes that is passed without an allocation.
struct Key: TableKey {
  let high: UInt64
  let low: UInt64

  @inline(__always)
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = unsafe withUnsafeBytes(of: self) { bytes in
      do throws(E) { return .success(try unsafe body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
