/// Where the arguments of a request lie, from the start of its frame.
///
/// The memory of one request serves the next: it is neither given back nor made anew between two small ones. It belongs to the list alone,
/// so that a ``Request`` refers to it without counting references.
@safe
struct ArgumentRanges: ~Copyable {
  struct ByteRange {
    let start: UInt32
    let count: UInt32
  }

  /// More ranges than this are let go with their request.
  private static let mostKept = 1024

  private var memory: UnsafeMutablePointer<ByteRange>?
  private(set) var capacity = 0
  private(set) var count = 0

  deinit { unsafe memory?.deallocate() }

  /// Where the first ranges of an empty list go. Nil if they are so many that room is made for those alone that have come.
  @unsafe
  mutating func room(for ranges: Int) -> UnsafeMutablePointer<ByteRange>? {
    if ranges > capacity {
      if ranges > Self.mostKept { return nil }
      grow(to: ranges)
    }
    return unsafe memory
  }

  /// So many ranges have been stored into ``room(for:)``.
  mutating func hasFilled(_ ranges: Int) { count = ranges }

  mutating func append(_ range: ByteRange) {
    if count == capacity { grow(to: count + 1) }
    unsafe (memory! + count).initialize(to: range)
    count += 1
  }

  @inline(never)
  private mutating func grow(to least: Int) {
    let larger = max(16, capacity * 2, least)
    let target = UnsafeMutablePointer<ByteRange>.allocate(capacity: larger)
    if let memory = unsafe memory {
      unsafe target.moveInitialize(from: memory, count: count)
      unsafe memory.deallocate()
    }
    unsafe memory = target
    capacity = larger
  }

  mutating func removeAll() {
    count = 0
    if capacity > Self.mostKept {
      unsafe memory?.deallocate()
      unsafe memory = nil
      capacity = 0
    }
  }

  /// Valid until the list changes.
  @unsafe var ranges: UnsafeBufferPointer<ByteRange> { unsafe UnsafeBufferPointer(start: memory, count: count) }
}
