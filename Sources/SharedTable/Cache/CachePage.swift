import Glibc

/// One page of a cache's ledger: lines of four words, one line an element, in no order.
///
/// ```
/// 0 hash   8 used   16 cost   24 expiry
/// ```
/// `hash` is that of the element's key in the table. `used` is twice the table's version when the element was stored, or
/// twice that of a hit plus one: a hit comes after the commit that it saw. `expiry` in nanoseconds since 1970, 0 = never.
/// Kept as they lie in the table: a write copies the page in and out and touches few lines. A class with memory of its own: to
/// make an array of them took more than to copy it.
@safe
final class CachePage {
  struct Line: Equatable {
    var hash: UInt64
    var used: UInt64
    var cost: UInt64
    var expiry: UInt64

    func hasExpired(at now: UInt64) -> Bool { expiry != 0 && expiry <= now }
  }

  /// Not by Swift's `allocate`, which asks for aligned memory: that takes four times as many instructions.
  private var lines: UnsafeMutablePointer<Line>
  private var capacity: Int
  private(set) var count: Int
  /// Differs from what is stored, in what matters.
  var isDirty: Bool
  /// This process's hits were entered, and say more than what is stored.
  private(set) var hasNews = false
  private var hasHits = false
  /// Whether a line may expire. Stays as long as the page is loaded, also when that line is gone.
  private(set) var hasExpiries = false

  /// An empty one.
  init() {
    capacity = 8
    unsafe lines = Self.memory(capacity)
    count = 0
    isDirty = true
  }

  /// Nil if the bytes are no page.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count % MemoryLayout<Line>.stride == 0 else { return nil }
    count = bytes.count / MemoryLayout<Line>.stride
    capacity = count &+ 1
    unsafe lines = Self.memory(capacity)
    if let bytes = bytes.baseAddress {
      unsafe UnsafeMutableRawPointer(lines).copyMemory(from: bytes, byteCount: count &* MemoryLayout<Line>.stride)
    }
    isDirty = false
    var expiries: UInt64 = 0
    for index in 0..<count { unsafe expiries |= lines[index].expiry }
    hasExpiries = expiries != 0
  }

  deinit { unsafe free(lines) }

  private static func memory(_ capacity: Int) -> UnsafeMutablePointer<Line> {
    unsafe malloc(capacity &* MemoryLayout<Line>.stride)!.bindMemory(to: Line.self, capacity: capacity)
  }

  private var all: UnsafeMutableBufferPointer<Line> {
    unsafe UnsafeMutableBufferPointer(start: lines, count: count)
  }

  /// Calls `body` with the bytes that lie in the table.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(all))
  }

  subscript(line: Int) -> Line {
    get {
      precondition(0..<count ~= line)
      return unsafe lines[line]
    }
    set {
      precondition(0..<count ~= line)
      unsafe lines[line] = newValue
      noteChange(newValue)
    }
  }

  func append(_ line: Line) {
    if count == capacity { grow() }
    unsafe (lines + count).initialize(to: line)
    count += 1
    noteChange(line)
  }

  private func noteChange(_ line: Line) {
    isDirty = true
    if line.expiry != 0 { hasExpiries = true }
  }

  private func grow() {
    capacity *= 2
    unsafe lines = realloc(lines, capacity * MemoryLayout<Line>.stride)!.assumingMemoryBound(to: Line.self)
  }

  /// The last line takes the place of the one removed.
  func remove(_ line: Int) -> Line {
    let removed = self[line]
    self[line] = self[count - 1]
    count -= 1
    return removed
  }

  /// Enters when a line's element was used. By itself no reason to store the page.
  /// - Returns: whether that was later than the line says.
  func enter(use: UInt64, line: Int) -> Bool {
    precondition(0..<count ~= line)
    guard unsafe lines[line].used < use else { return false }
    unsafe lines[line].used = use
    return true
  }

  /// Whether a page as it lies in the table has a line of that hash which costs so much and stays for ever.
  static func lists(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64, cost: UInt64) -> Bool {
    let stride = MemoryLayout<Line>.stride
    guard let start = bytes.baseAddress, bytes.count % stride == 0 else { return false }
    var offset = 0
    func isHere(_ line: Int) -> Bool {
      unsafe start.loadUnaligned(fromByteOffset: offset &+ line &* stride, as: UInt64.self) == hash
    }
    // Four lines a turn, as long as there are so many: a page has dozens.
    while offset &+ 4 &* stride <= bytes.count, !(isHere(0) || isHere(1) || isHere(2) || isHere(3)) {
      offset &+= 4 &* stride
    }
    while offset < bytes.count {
      if isHere(0) {
        let line = unsafe start.loadUnaligned(fromByteOffset: offset, as: Line.self)
        return line.cost == cost && line.expiry == 0
      }
      offset &+= stride
    }
    return false
  }

  /// Enters what this process has read, once.
  func enter(_ hits: RecentHits) {
    if hasHits { return }
    hasHits = true
    hasNews = unsafe hits.enter(all)
  }

  func line(ofHash hash: UInt64) -> Int? {
    for index in 0..<count where unsafe lines[index].hash == hash { return index }
    return nil
  }

  /// The line that was used longest ago, but for one hash; what has expired by `now` counts as never used.
  func oldest(sparing hash: UInt64?, now: UInt64) -> (line: Int, used: UInt64)? {
    var best: (line: Int, used: UInt64)?
    for index in 0..<count {
      let line = unsafe lines[index]
      let used = line.hasExpired(at: now) ? 0 : line.used
      if best == nil || used < best!.used, line.hash != hash { best = (index, used) }
    }
    return best
  }
}
