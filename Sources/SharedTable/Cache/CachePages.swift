/// The pages of a cache's ledger that a barrier has loaded. The first one is the page of the key that is written, and most often
/// the only one: it lies apart, where it is found without hashing its number.
struct CachePages {
  private var firstIndex = -1
  private var first: CachePage?
  private var others: [Int: CachePage] = [:]

  /// A page; nil if it is not loaded.
  func loaded(_ index: Int) -> CachePage? { index == firstIndex ? first : others.isEmpty ? nil : others[index] }

  /// A loaded page.
  subscript(index: Int) -> CachePage { loaded(index)! }

  /// Enters a page, or puts another in the place of one that is loaded.
  mutating func enter(_ page: CachePage, at index: Int) {
    if first == nil, others.isEmpty { firstIndex = index }
    if index == firstIndex { first = page } else { others[index] = page }
  }

  mutating func remove(_ index: Int) {
    if index == firstIndex { (firstIndex, first) = (-1, nil) } else { others[index] = nil }
  }

  func forEach<E: Error>(_ body: (Int, CachePage) throws(E) -> Void) throws(E) {
    if let first { try body(firstIndex, first) }
    if others.isEmpty { return }
    for (index, page) in others { try body(index, page) }
  }
}
