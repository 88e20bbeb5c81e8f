/// A node where it lies, with what was checked of it.
struct ArrayNodeSpan: ~Escapable {
  let span: RawSpan
  let level: Int
  let count: Int

  /// Nil if the bytes can be no node, whatever its level: there is room for what it counts.
  @inline(__always) @_lifetime(copy span)
  init?(_ span: RawSpan) {
    guard let level = span.word32(at: 0), let count = span.word32(at: 4) else { return nil }
    guard count <= span.byteCount / (level == 0 ? 4 : 16) else { return nil }
    self.span = span
    self.level = level
    self.count = count
  }

  // MARK: - Leaves

  /// Where the elements begin.
  var dataStart: Int { Self.dataStart(count) }

  static func dataStart(_ count: Int) -> Int { (8 &+ 4 &* count &+ 15) & ~15 }

  /// Where element `index` begins in the data, or would if there was one more; nil if the end before it cannot be.
  @inline(__always)
  func start(_ index: Int, alignment: Int) -> Int? {
    if index == 0 { return 0 }
    // An index is at most the count, which has 32 bits.
    return span.word32(at: 4 &+ 4 &* index).map { padded($0, alignment: alignment) }
  }

  /// What an element of so many bytes takes. An alignment is a power of two.
  func padded(_ length: Int, alignment: Int) -> Int { (length &+ alignment &- 1) & ~(alignment &- 1) }

  /// Where element `index` lies; nil if the node's ends contradict each other.
  @inline(__always)
  func range(_ index: Int, alignment: Int) -> Range<Int>? {
    guard level == 0, index >= 0, index < count, dataStart <= span.byteCount,
      let start = start(index, alignment: alignment), let end = span.word32(at: 8 + 4 * index), start <= end,
      end <= span.byteCount - dataStart
    else { return nil }
    return dataStart + start..<dataStart + end
  }

  /// Calls `body` with the bytes of element `index`; nil if the node's ends contradict each other.
  @inline(__always)
  func withElement<R>(_ index: Int, alignment: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    guard let range = range(index, alignment: alignment) else { return nil }
    return unsafe span.withUnsafeBytes { bytes in
      unsafe body(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }

  // MARK: - Inner nodes

  /// The child that element `index` is below, and how many elements lie before that child; nil if there is none.
  ///
  /// The frequent step of a look-up, so it checks the node's length once and no child that it passes.
  func child(holding index: Int) -> (id: Int, before: Int)? {
    guard level > 0, index >= 0, 8 + 16 * count <= span.byteCount else { return nil }
    return unsafe span.withUnsafeBytes { bytes in
      var rest = UInt64(index)
      var at = 8
      for _ in 0..<count {
        let below = unsafe bytes.loadUnaligned(fromByteOffset: at &+ 8, as: UInt64.self)
        if below > rest {
          let id = unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          return id > 0 ? Int(exactly: id).map { ($0, index - Int(rest)) } : nil
        }
        rest &-= below
        at &+= 16
      }
      return nil
    }
  }

  /// How many elements lie below an inner node; nil if this is none, or a child of it cannot be.
  var countBelow: Int? {
    guard level > 0, count > 0, span.byteCount == 8 + 16 * count else { return nil }
    return unsafe span.withUnsafeBytes { bytes in
      var sum = 0
      for at in stride(from: 8, to: bytes.count, by: 16) {
        let child = unsafe bytes.loadUnaligned(fromByteOffset: at, as: ArrayInner.Child.self)
        let (next, overflow) = sum.addingReportingOverflow(child.count)
        if child.id <= 0 || child.count <= 0 || overflow { return nil }
        sum = next
      }
      return sum
    }
  }

  /// The children of an inner node that is as long as it must be, as they are stored.
  var children: [ArrayInner.Child] {
    unsafe span.withUnsafeBytes { bytes in
      unsafe [ArrayInner.Child](unsafeUninitializedCapacity: count) { place, stored in
        unsafe UnsafeMutableRawBufferPointer(place).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[8...]))
        stored = count
      }
    }
  }
}

extension RawSpan {
  @inline(__always)
  fileprivate func word32(at offset: Int) -> Int? {
    guard offset >= 0, offset <= byteCount - 4 else { return nil }
    return unsafe Int(unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
