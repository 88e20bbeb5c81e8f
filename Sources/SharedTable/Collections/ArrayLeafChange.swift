import Glibc
import TableEngine

/// A leaf with an element in place of another, or of none: its new bytes are made of the stored ones by copying, without a look
/// at the elements that stay.
struct ArrayLeafChange: ~Escapable {
  private let node: ArrayNodeSpan
  /// The element that goes, or the empty range where one comes in.
  private let range: Range<Int>
  /// Where they lie, from the first element's beginning to that of what follows them.
  private let gap: Range<Int>
  /// The length of the element that comes.
  private let length: Int
  private let alignment: Int

  /// Of the new leaf.
  var count: Int { node.count &- range.count &+ 1 }
  /// What its elements take.
  let dataBytes: Int
  var byteCount: Int { ArrayNodeSpan.dataStart(count) &+ dataBytes }

  /// How much smaller the data are than they were.
  var shrinkage: Int { node.span.byteCount - node.dataStart - dataBytes }

  /// Nil if the leaf has no such range, or its ends contradict each other where it is cut.
  ///
  /// Other ends may be wrong too: they stay wrong, and a read of those elements throws `damaged`.
  @inline(__always) @_lifetime(copy node)
  init?(_ node: borrowing ArrayNodeSpan, _ range: Range<Int>, length: Int, alignment: Int) {
    guard node.level == 0, range.lowerBound >= 0, range.upperBound <= node.count,
      let first = node.start(range.lowerBound, alignment: alignment),
      let rest = range.isEmpty ? first : node.start(range.upperBound, alignment: alignment),
      let end = range.upperBound == node.count ? rest : node.start(node.count, alignment: alignment),
      first <= rest, rest <= end, node.dataStart + end == node.span.byteCount
    else { return nil }
    self.node = copy node
    self.range = range
    gap = first..<rest
    self.length = length
    self.alignment = alignment
    dataBytes = end - gap.count + node.padded(length, alignment: alignment)
  }

  /// Writes the new leaf: all of `byteCount` bytes.
  @inline(__always)
  func write(_ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) {
    unsafe node.span.withUnsafeBytes { old in
      guard let old = old.baseAddress else { return }
      if isWithinGap { return unsafe writeOver(old, element, to: place) }
      unsafe writeEnds(old, to: place)
      unsafe writeData(old, element, to: place)
    }
  }

  /// The element takes the room of the one that goes, so no other element moves.
  private var isWithinGap: Bool {
    count == node.count && node.padded(length, alignment: alignment) == gap.count
  }

  @inline(__always)
  private func writeOver(
    _ old: UnsafeRawPointer, _ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) {
    unsafe place.copyMemory(from: old, byteCount: byteCount)
    let end = gap.lowerBound &+ length
    unsafe place.storeBytes(
      of: UInt32(truncatingIfNeeded: end), toByteOffset: 8 &+ 4 &* range.lowerBound, as: UInt32.self)
    let data = unsafe place + node.dataStart
    if let bytes = element.baseAddress { unsafe (data + gap.lowerBound).copyMemory(from: bytes, byteCount: length) }
    if end < gap.upperBound { unsafe memset(data + end, 0, gap.upperBound &- end) }
  }

  @inline(__always)
  private func writeEnds(_ old: UnsafeRawPointer, to place: UnsafeMutableRawPointer) {
    // What no end is written over, at most 12 bytes in front of the elements, is zeros.
    unsafe (place + ArrayNodeSpan.dataStart(count) - 16).storeBytes(of: 0, as: UInt128.self)
    unsafe place.storeBytes(of: UInt64(count) << 32, as: UInt64.self)
    let kept = 8 &+ 4 &* range.lowerBound
    unsafe (place + 8).copyMemory(from: old + 8, byteCount: kept &- 8)
    let end = UInt32(truncatingIfNeeded: gap.lowerBound &+ length)
    unsafe place.storeBytes(of: end, toByteOffset: kept, as: UInt32.self)
    var at = kept &+ 4
    let shift = UInt32(truncatingIfNeeded: node.padded(length, alignment: alignment) &- gap.count)
    var from = 8 &+ 4 &* range.upperBound
    while from < 8 &+ 4 &* node.count {
      let end = unsafe old.loadUnaligned(fromByteOffset: from, as: UInt32.self) &+ shift
      unsafe place.storeBytes(of: end, toByteOffset: at, as: UInt32.self)
      from &+= 4
      at &+= 4
    }
  }

  @inline(__always)
  private func writeData(
    _ old: UnsafeRawPointer, _ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) {
    let (from, to) = unsafe (old + node.dataStart, place + ArrayNodeSpan.dataStart(count))
    unsafe to.copyMemory(from: from, byteCount: gap.lowerBound)
    if let bytes = element.baseAddress {
      unsafe (to + gap.lowerBound).copyMemory(from: bytes, byteCount: length)
    }
    let end = gap.lowerBound &+ length
    let next = gap.lowerBound &+ node.padded(length, alignment: alignment)
    if end < next { unsafe memset(to + end, 0, next &- end) }
    unsafe (to + next).copyMemory(from: from + gap.upperBound, byteCount: dataBytes &- next)
  }
}
