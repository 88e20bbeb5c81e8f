import CShims
import Glibc
import TableEngine

/// A leaf with an element in place of another, or of none: its new bytes are made of the stored ones by copying, without a look
/// at the elements that stay.
///
/// Valid as long as the stored leaf lies there. It is no `~Escapable` type and has no fields that are ranges: a closure that captured
/// such a value would call the runtime to destroy it.
@safe
struct ArrayLeafChange {
  private let old: UnsafeRawPointer
  private let oldCount: Int
  /// How many elements the new leaf has.
  let count: Int
  /// The index of the element that goes, or before which one comes in.
  private let index: Int
  /// Where that lies, from its beginning to that of what follows it: the same if none goes.
  private let gapStart: Int
  private let gapEnd: Int
  /// The length of the element that comes, and what it takes with the zeros behind it.
  private let length: Int
  private let room: Int
  /// What the new leaf's elements take.
  let dataBytes: Int

  var byteCount: Int { ArrayNodeSpan.dataStart(count) &+ dataBytes }

  /// How much smaller the data are than they were.
  var shrinkage: Int { gapEnd &- gapStart &- room }

  private var oldDataStart: Int { ArrayNodeSpan.dataStart(oldCount) }

  /// Nil if the leaf has no such range, of one element or none, or its ends contradict each other where it is cut.
  ///
  /// Other ends may be wrong too: they stay wrong, and a read of those elements throws `damaged`.
  @inline(__always)
  init?(_ node: borrowing ArrayNodeSpan, _ range: Range<Int>, length: Int, alignment: Int) {
    guard node.level == 0, range.lowerBound >= 0, range.upperBound <= node.count,
      let first = node.start(range.lowerBound, alignment: alignment),
      let rest = range.isEmpty ? first : node.start(range.upperBound, alignment: alignment),
      let end = range.upperBound == node.count ? rest : node.start(node.count, alignment: alignment),
      first <= rest, rest <= end, node.dataStart + end == node.span.byteCount
    else { return nil }
    unsafe old = node.span.withUnsafeBytes { $0.baseAddress! }
    oldCount = node.count
    count = node.count &- range.count &+ 1
    index = range.lowerBound
    (gapStart, gapEnd) = (first, rest)
    self.length = length
    room = node.padded(length, alignment: alignment)
    dataBytes = end &- (rest &- first) &+ room
  }

  /// Writes the new leaf: all of `byteCount` bytes.
  @inline(__always)
  func write(_ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) {
    if index == oldCount { return unsafe writeBehind(element, to: place) }
    if isWithinGap { return unsafe writeOver(element, to: place) }
    unsafe writeEnds(to: place)
    unsafe writeData(element, to: place)
  }

  /// The element takes the room of the one that goes, so no other element moves.
  private var isWithinGap: Bool { count == oldCount && room == gapEnd &- gapStart }

  @inline(__always)
  private func writeOver(
    _ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) {
    unsafe place.copyMemory(from: old, byteCount: byteCount)
    unsafe place.storeBytes(of: end, toByteOffset: 8 &+ 4 &* index, as: UInt32.self)
    unsafe writeElement(element, to: place + oldDataStart)
  }

  /// The element comes behind all others. Every fourth time the list of ends grows by 16 bytes, and all elements move by as much.
  @inline(__always)
  private func writeBehind(
    _ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) {
    let (from, to) = (oldDataStart, ArrayNodeSpan.dataStart(count))
    if from == to {
      unsafe place.copyMemory(from: old, byteCount: from &+ gapStart)
    } else {
      unsafe place.copyMemory(from: old, byteCount: from)
      unsafe (place + from).storeBytes(of: 0, as: UInt128.self)
      unsafe (place + to).copyMemory(from: old + from, byteCount: gapStart)
    }
    unsafe place.storeBytes(of: UInt32(truncatingIfNeeded: count), toByteOffset: 4, as: UInt32.self)
    unsafe place.storeBytes(of: end, toByteOffset: 4 &+ 4 &* count, as: UInt32.self)
    unsafe writeElement(element, to: place + to)
  }

  @inline(__always)
  private func writeEnds(to place: UnsafeMutableRawPointer) {
    // What no end is written over, at most 12 bytes in front of the elements, is zeros.
    unsafe (place + ArrayNodeSpan.dataStart(count) - 16).storeBytes(of: 0, as: UInt128.self)
    unsafe place.storeBytes(of: UInt64(count) << 32, as: UInt64.self)
    let kept = 8 &+ 4 &* index
    unsafe (place + 8).copyMemory(from: old + 8, byteCount: kept &- 8)
    unsafe place.storeBytes(of: end, toByteOffset: kept, as: UInt32.self)
    var at = kept &+ 4
    let shift = UInt32(truncatingIfNeeded: room &- (gapEnd &- gapStart))
    // Behind the old end of the element that goes.
    var from = kept &+ 4 &* (oldCount &+ 1 &- count)
    while from < 8 &+ 4 &* oldCount {
      let end = unsafe old.loadUnaligned(fromByteOffset: from, as: UInt32.self) &+ shift
      unsafe place.storeBytes(of: end, toByteOffset: at, as: UInt32.self)
      from &+= 4
      at &+= 4
    }
  }

  @inline(__always)
  private func writeData(
    _ element: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) {
    let (from, to) = unsafe (old + oldDataStart, place + ArrayNodeSpan.dataStart(count))
    unsafe to.copyMemory(from: from, byteCount: gapStart)
    unsafe writeElement(element, to: to)
    let next = gapStart &+ room
    unsafe (to + next).copyMemory(from: from + gapEnd, byteCount: dataBytes &- next)
  }

  /// Where the element ends.
  private var end: UInt32 { UInt32(truncatingIfNeeded: gapStart &+ length) }

  /// Writes the element and the zeros behind it.
  @inline(__always)
  private func writeElement(_ element: UnsafeRawBufferPointer, to data: UnsafeMutableRawPointer) {
    if let bytes = element.baseAddress { unsafe shm_copy_short(data + gapStart, bytes, length) }
    if length < room { unsafe memset(data + gapStart + length, 0, room &- length) }
  }
}
