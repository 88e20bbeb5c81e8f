/// One page of a cache's ledger: lines of four words, one line an element, in no order.
///
/// ```
/// 0 hash   8 used   16 cost   24 expiry
/// ```
/// `hash` is that of the element's key in the table. `used` is twice the table's version when the element was stored, or
/// twice that of a hit plus one: a hit comes after the commit that it saw. `expiry` in nanoseconds since 1970, 0 = never.
/// Kept as words, as they lie in the table: a write copies the page in and out and touches few lines.
struct CachePage {
  struct Line: Equatable {
    var hash: UInt64
    var used: UInt64
    var cost: UInt64
    var expiry: UInt64
  }

  private(set) var words: [UInt64]
  /// Differs from what is stored, in what matters.
  var isDirty: Bool
  /// This process's hits, entered when it was loaded, say more than what is stored.
  private(set) var hasNews = false

  static let lineWords = 4

  init() {
    words = []
    isDirty = true
  }

  /// Nil if the bytes are no page.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count % (Self.lineWords * 8) == 0 else { return nil }
    words = unsafe [UInt64](unsafeUninitializedCapacity: bytes.count / 8 + Self.lineWords) { place, count in
      if bytes.count > 0 { unsafe UnsafeMutableRawBufferPointer(place).copyMemory(from: bytes) }
      count = bytes.count / 8
    }
    isDirty = false
  }

  var count: Int { words.count / Self.lineWords }

  subscript(line: Int) -> Line {
    get {
      let start = line * Self.lineWords
      return Line(hash: words[start], used: words[start + 1], cost: words[start + 2], expiry: words[start + 3])
    }
    set {
      let start = line * Self.lineWords
      words[start] = newValue.hash
      words[start + 1] = newValue.used
      words[start + 2] = newValue.cost
      words[start + 3] = newValue.expiry
      isDirty = true
    }
  }

  mutating func append(_ line: Line) {
    words.append(line.hash)
    words.append(line.used)
    words.append(line.cost)
    words.append(line.expiry)
    isDirty = true
  }

  /// The last line takes the place of the one removed.
  mutating func remove(_ line: Int) -> Line {
    let removed = self[line]
    let last = count - 1
    if line != last { self[line] = self[last] }
    words.removeLast(Self.lineWords)
    isDirty = true
    return removed
  }

  func line(ofHash hash: UInt64) -> Int? {
    unsafe words.withUnsafeBufferPointer { words in
      var index = 0
      while index < words.count {
        if unsafe words[index] == hash { return index / Self.lineWords }
        index += Self.lineWords
      }
      return nil
    }
  }

  /// Whether any line can expire.
  var hasExpiries: Bool {
    unsafe words.withUnsafeBufferPointer { words in
      var index = 3
      while index < words.count {
        if unsafe words[index] != 0 { return true }
        index += Self.lineWords
      }
      return false
    }
  }

  /// The line that was used longest ago, but for one hash; what has expired by `now` counts as never used.
  func oldest(sparing hash: UInt64?, now: UInt64) -> (line: Int, used: UInt64)? {
    unsafe words.withUnsafeBufferPointer { words in
      var best: (line: Int, used: UInt64)?
      var index = 0
      while index < words.count {
        let expiry = unsafe words[index + 3]
        let used = expiry != 0 && expiry <= now ? 0 : unsafe words[index + 1]
        if best == nil || used < best!.used, unsafe words[index] != hash {
          best = (index / Self.lineWords, used)
        }
        index += Self.lineWords
      }
      return best
    }
  }

  /// Enters what this process has read.
  mutating func update(_ hits: RecentHits) {
    hasNews = unsafe words.withUnsafeMutableBufferPointer { words in
      var hasNews = false
      var index = 0
      while index < words.count {
        let used = hits.used(unsafe words[index])
        if used > (unsafe words[index + 1]) {
          unsafe words[index + 1] = used
          hasNews = true
        }
        index += Self.lineWords
      }
      return hasNews
    }
  }
}
