/// What bounds a cache.
public enum CacheLimit: Sendable, Equatable {
  /// At most so many elements.
  case entries(Int)
  /// At most so much cost in all: the bytes of keys and values, unless a write names another cost. The table itself needs about
  /// 100 bytes more for each element.
  case bytes(Int)

  /// How many elements the cache will hold about: a limit in bytes is taken for elements of 256 bytes.
  var expectedCount: Int {
    switch self {
    case .entries(let count): min(count, 1 << 20)
    case .bytes(let count): min(count / 256, 1 << 20)
    }
  }

  var maximum: UInt64 {
    switch self {
    case .entries(let count): UInt64(max(0, count))
    case .bytes(let count): UInt64(max(0, count))
    }
  }
}
