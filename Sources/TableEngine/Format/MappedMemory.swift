import CShims

/// One mapped object, addressed by byte offset: the only place where the engine turns offsets into pointers.
///
/// Every access names its memory order. Nothing here validates an offset: participants trust each other's
/// offsets (see "Three ways in" in docs/administration.md), and an observer checks each one before it comes here
/// (``ObserverLookup/require(_:_:alignment:_:)``). Offsets of words are multiples of 8.
@frozen @safe
public struct MappedMemory: @unchecked Sendable {
  // Sendable because the pointer never changes and every shared store goes through a named-order atomic
  // or is made to memory that no other thread can reach yet.
  public let base: UnsafeMutableRawPointer

  @inlinable @inline(__always)
  public init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

  @inlinable @inline(__always)
  public func pointer(_ offset: Int) -> UnsafeMutableRawPointer { unsafe base + offset }

  @inlinable @inline(__always)
  public func loadAcquire(_ offset: Int) -> UInt64 { unsafe shm_load_acquire(base + offset) }

  @inlinable @inline(__always)
  public func loadRelaxed(_ offset: Int) -> UInt64 { unsafe shm_load_relaxed(base + offset) }

  /// Sequentially consistent: not before an earlier exchange of this thread, on any processor.
  @inlinable @inline(__always)
  func loadSequential(_ offset: Int) -> UInt64 { unsafe shm_load_seqcst(base + offset) }

  /// Half of a word. Relaxed: the owner of W reads what only it changes, a participant what its announcement keeps, and an observer validates
  /// afterwards.
  @inlinable @inline(__always)
  func loadRelaxedHalf(_ offset: Int) -> UInt32 { unsafe shm_load32_relaxed(base + offset) }

  @inlinable @inline(__always)
  public func storeRelease(_ offset: Int, _ value: UInt64) { unsafe shm_store_release(base + offset, value) }

  /// For memory that only the caller stores to, and that the next release store or fence publishes.
  @inlinable @inline(__always)
  public func storeRelaxed(_ offset: Int, _ value: UInt64) { unsafe shm_store_relaxed(base + offset, value) }

  /// The previous value; sequentially consistent.
  @inlinable @inline(__always)
  public func exchange(_ offset: Int, _ value: UInt64) -> UInt64 {
    unsafe shm_exchange_seqcst(base + offset, value)
  }

  @inlinable @inline(__always)
  public func compareAndSwap(_ offset: Int, expected: UInt64, desired: UInt64) -> Bool {
    unsafe shm_cas_seqcst(base + offset, expected, desired)
  }

  @inlinable @inline(__always)
  public func byte(_ offset: Int) -> UInt8 { unsafe base.load(fromByteOffset: offset, as: UInt8.self) }

  @inlinable @inline(__always)
  public func storeByte(_ offset: Int, _ value: UInt8) {
    unsafe base.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
  }

  @inlinable @inline(__always)
  public func copy(_ bytes: UnsafeRawPointer, count: Int, to offset: Int) {
    unsafe shm_copy_short(base + offset, bytes, count)
  }

  /// As ``copy(_:count:to:)``, for bytes that are often more than a key has.
  @inline(__always)
  func copyValue(_ bytes: UnsafeRawPointer, count: Int, to offset: Int) {
    unsafe shm_copy_medium(base + offset, bytes, count)
  }

  @inlinable
  public func zero(_ offset: Int, count: Int) { fill(offset, count: count, with: 0) }

  @inlinable
  func fill(_ offset: Int, count: Int, with byte: UInt8) {
    unsafe (base + offset).initializeMemory(as: UInt8.self, repeating: byte, count: count)
  }

  /// Bits, in words of 64, from `offset` on. Only the owner of the writer lock changes bits.
  @inlinable @inline(__always)
  func setBit(_ bit: Int, at offset: Int) {
    let word = offset &+ (bit >> 6) &* 8
    storeRelaxed(word, loadRelaxed(word) | (1 &<< UInt64(bit & 63)))
  }

  @inlinable @inline(__always)
  func clearBit(_ bit: Int, at offset: Int) {
    let word = offset &+ (bit >> 6) &* 8
    storeRelaxed(word, Self.without(bit & 63, loadRelaxed(word)))
  }

  /// A word without one of its bits: one instruction where the complement of a bit would be three.
  @inlinable @inline(__always)
  static func without(_ bit: Int, _ word: UInt64) -> UInt64 { word & (word ^ (1 &<< UInt64(bit))) }

  @inlinable @inline(__always)
  func bit(_ bit: Int, at offset: Int) -> Bool {
    loadRelaxed(offset &+ (bit >> 6) &* 8) & (1 &<< UInt64(bit & 63)) != 0
  }
}

/// Keeps the compiler from moving stores across it.
///
/// A killed process leaves a program-order prefix of its stores, so this is all that crash safety needs;
/// concurrency needs the acquire and release orders besides.
@inlinable @inline(__always)
func crashFence() { shm_fence_compiler() }

@inlinable @inline(__always)
package func roundUp(_ value: Int, to multiple: Int) -> Int { (value + multiple - 1) / multiple * multiple }

func nextPowerOfTwo(_ value: Int) -> Int {
  value <= 1 ? 1 : 1 << (Int.bitWidth - (value - 1).leadingZeroBitCount)
}
