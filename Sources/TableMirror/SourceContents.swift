/// All keys of the prefix at one revision, with their values.
struct SourceContents {
  let position: SourcePosition
  private(set) var pages: [ContentPage] = []
  private(set) var count = 0
  private(set) var byteCount = 0

  init(at position: SourcePosition) { self.position = position }

  /// Adds the page behind the others.
  /// - Throws: `stopped` if its keys do not follow in their order.
  mutating func add(_ page: ContentPage) throws(MirrorFailure) {
    var last = pages.last?.lastKey.map { $0[...] }
    for index in 0..<page.count {
      let key = page.key(index)
      if let last, !last.lexicographicallyPrecedes(key) {
        throw .stopped("the other store gave keys in no order; is that an etcd of version 3.4 or later?")
      }
      last = key
    }
    guard page.count > 0 else { return }
    pages.append(page)
    count += page.count
    byteCount += page.byteCount
  }

  /// Whether there is such a key. Binary search, over the pages and in one.
  func contains(_ key: some Collection<UInt8>) -> Bool {
    var (low, high) = (0, pages.count)
    while low < high {
      let middle = (low + high) / 2
      // Below or at the page's first key: that page, or one before.
      if key.lexicographicallyPrecedes(pages[middle].key(0)) { high = middle } else { low = middle + 1 }
    }
    return low > 0 && pages[low - 1].contains(key)
  }
}

extension ContentPage {
  fileprivate func contains(_ wanted: some Collection<UInt8>) -> Bool {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let found = key(middle)
      if found.lexicographicallyPrecedes(wanted) {
        low = middle + 1
      } else if wanted.lexicographicallyPrecedes(found) {
        high = middle
      } else {
        return true
      }
    }
    return false
  }
}
