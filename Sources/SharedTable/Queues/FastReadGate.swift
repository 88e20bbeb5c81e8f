public import CShims
import Glibc

/// How reads enter a queue while no barrier is pending: counted, and asking nobody. While one is, they wait in
/// ``SubmissionOrder/submitRead``.
///
/// One line of memory for the gate, and further ones, the *stripes*, for counts of readers inside. A thread counts
/// itself on the stripe of its number, so that readers on different processors do not pull one line to and fro.
/// Process-local: what it keeps apart are the submissions of one queue object, and a process dies as a whole.
///
/// PAIR queue-gate. Other end: FastReadGate.enter, FastReadGate.leave and FastReadGate.close name each other here. A reader counts
/// itself, then looks at the gate. The thread that brings a barrier closes the gate, then looks at the counts. All four are
/// sequentially consistent, so that not both can miss the other (Dekker). So once the gate is closed and a stripe was seen at
/// zero, a reader that comes to that stripe later sees the gate closed and turns back. Leaving is the same pair: a reader
/// uncounts itself, then looks at the gate, and if it is closed asks whether the barrier may begin now; without that look the
/// barrier could wait for a reader that is gone. Acquire and release come with it: readers see what the barrier before did,
/// and a barrier what the readers before did.
@usableFromInline @safe
struct FastReadGate: @unchecked Sendable {
  // Sendable because the memory is used by atomics only, and the address never changes.
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let stripes: Int

  @usableFromInline static var lineBytes: Int { 64 }

  /// As many stripes as processors, at most 16, a power of two.
  static let stripesPerGate: Int = {
    let processors = max(1, min(16, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    var count = 1
    while count < processors { count *= 2 }
    return count
  }()

  init() {
    stripes = Self.stripesPerGate
    let byteCount = Self.lineBytes * (stripes + 1)
    unsafe base = .allocate(byteCount: byteCount, alignment: Self.lineBytes)
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  /// By the last who knows of it.
  func deallocate() { unsafe base.deallocate() }

  // MARK: - Readers

  /// Counts the reader in, unless the gate is closed.
  /// - Returns: nil if it is closed; then whoever closed it may have seen us, and must be asked again.
  @inlinable @inline(__always)
  func enter(thread number: Int) -> Int? {
    let stripe = number & (stripes &- 1)
    _ = unsafe shm_add_seqcst(line(stripe &+ 1), 1)
    if !isClosed { return stripe }
    leave(stripe)
    return nil
  }

  /// Counts the reader out.
  /// - Returns: whether the gate is closed: then somebody may be waiting for this.
  @inlinable @inline(__always) @discardableResult
  func leave(_ stripe: Int) -> Bool {
    _ = unsafe shm_add_seqcst(line(stripe &+ 1), .max)
    return isClosed
  }

  @inlinable @inline(__always)
  var isClosed: Bool { unsafe shm_load_seqcst(base) != 0 }

  @inlinable @inline(__always)
  func line(_ index: Int) -> UnsafeMutableRawPointer { unsafe base + index &* Self.lineBytes }

  // MARK: - The queue, under its lock

  func close() { _ = unsafe shm_exchange_seqcst(base, 1) }

  func open() { unsafe shm_store_release(base, 0) }

  /// Is no reader inside? With the gate closed; may say no because of one that is turning back.
  var isEmpty: Bool {
    for stripe in 1...stripes where unsafe shm_load_seqcst(line(stripe)) != 0 { return false }
    return true
  }
}
