import TableEngine

/// The first record of a cache's ledger: what its pages add up to.
///
/// Every word may be a stranger's: it is judged when read, and sums wrap instead of trapping.
struct CacheHead: Equatable {
  /// Elements, expired ones that nobody removed yet included.
  var count: UInt64 = 0
  /// Modulo 2^64, and any: what a limit in elements lets in may cost anything.
  var cost: UInt64 = 0
  var pageCount = 1
  /// The page to look for victims in next.
  var hand = 0
  /// Grows when the cache is emptied: who began to compute before must not store afterwards.
  var epoch: UInt64 = 0
  /// Elements added and evicted since the ledger was made, or made anew.
  var insertions: UInt64 = 0
  var evictions: UInt64 = 0
  /// Of the table, by which the pages' lines name elements. 0: not known, of an earlier release. A store, a dump or a copy takes the ledger to a
  /// table with another one: there its lines name nothing.
  let seed: UInt64

  /// "shcache" and the layout's number.
  static let magic: UInt64 = 0x0165_6863_6163_6873
  static let wordCount = 9
  /// As which it is stored, so that no value under the cache's name is taken for it, nor it for a value.
  static let form = StoredForm(structure: Fingerprint.named("SharedTable.CacheHead"))
  /// Room for a thousand million elements.
  static let maximumPageCount = 1 << 25

  init(seed: UInt64) { self.seed = seed }

  /// Nil if the bytes are no cache's, or cannot be right.
  @inline(__always)
  init?(_ found: FoundEntry) {
    let bytes = unsafe found.value
    let hasSeed = bytes.count == Self.wordCount * 8
    guard Self.isForm(of: found), hasSeed || bytes.count == (Self.wordCount - 1) * 8, let words = bytes.baseAddress
    else { return nil }
    func word(_ index: Int) -> UInt64 { unsafe words.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self) }
    count = word(1)
    cost = word(2)
    pageCount = Int(truncatingIfNeeded: word(3))
    hand = Int(truncatingIfNeeded: word(4))
    epoch = word(5)
    insertions = word(6)
    evictions = word(7)
    seed = hasSeed ? word(8) : 0
    guard word(0) == Self.magic, UInt(bitPattern: pageCount &- 1) < Self.maximumPageCount,
      UInt(bitPattern: hand) < UInt(bitPattern: pageCount), count >> 63 == 0
    else { return nil }
  }

  /// Whether it was meant for a cache's head, be it a wrong one.
  static func isOfACache(_ found: FoundEntry) -> Bool { unsafe isOfACache(found.carriedAttributes, found.value) }

  /// As ``isOfACache(_:)``, for a value that lies in no table.
  static func isOfACache(_ attributes: ValueAttributes, _ value: UnsafeRawBufferPointer) -> Bool {
    let isForm = attributes.hasForm(form) || attributes.type == ValueType.bytes.rawValue
    return unsafe isForm && value.count >= 8 && value.loadUnaligned(as: UInt64.self) == magic
  }

  /// Releases before stored plain bytes, which a store or a dump may have kept: the next write that changes the head stores it anew.
  @inline(__always)
  private static func isForm(of found: FoundEntry) -> Bool {
    found.hasForm(form) || found.meta.type == ValueType.bytes.rawValue
  }

  /// Calls `body` with the bytes that lie in the table.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let words: InlineArray<9, UInt64> = [
      Self.magic, count, cost, UInt64(pageCount), UInt64(hand), epoch, insertions, evictions, seed,
    ]
    return try unsafe withUnsafeBytes(of: words) { bytes throws(E) in try unsafe body(bytes) }
  }

  /// How much there is of what this limit bounds.
  func amount(boundedBy limit: CacheLimit) -> UInt64 {
    switch limit {
    case .entries: count
    case .bytes: cost
    }
  }

  func exceeds(_ limit: CacheLimit) -> Bool { amount(boundedBy: limit) > limit.maximum }

  // MARK: - Which page

  /// Linear hashing (W. Litwin, VLDB 1980): pages are added and given up one at a time.
  @inline(__always)
  static func page(_ hash: UInt64, of pageCount: Int) -> Int {
    let low = lowerPower(pageCount)
    let index = Int(truncatingIfNeeded: hash & UInt64(2 * low - 1))
    return index < pageCount ? index : index & (low - 1)
  }

  /// The page that shares what belongs to page `index`, while that one does not exist.
  static func parent(_ index: Int) -> Int { index - lowerPower(index) }

  private static func lowerPower(_ n: Int) -> Int { 1 << (Int.bitWidth - 1 - n.leadingZeroBitCount) }
}
