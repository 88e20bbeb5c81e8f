import Glibc

extension UnsafeRawBufferPointer {
  /// Whether its first bytes are those of the other. `starts(with:)` compares byte by byte.
  package func begins(with other: UnsafeRawBufferPointer) -> Bool {
    guard count >= other.count else { return false }
    guard let start = other.baseAddress, other.count > 0 else { return true }
    return unsafe memcmp(baseAddress!, start, other.count) == 0
  }
}
