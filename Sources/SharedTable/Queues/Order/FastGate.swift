public import CShims
import Glibc

/// Lets reads and barriers into a queue without the queue's lock: reads while no barrier is pending, a barrier while the queue is empty. All
/// others are let in by ``SubmissionOrder``.
///
/// One line of memory for the gate, and further ones, the *stripes*, for counts of readers inside. A thread counts
/// itself on the stripe of its number, so that readers on different processors do not pull one line to and fro.
/// Process-local: what it keeps apart are the submissions of one queue object, and a process dies as a whole.
///
/// The gate's word says whether a read, a barrier, both or neither may enter the queue here:
///
///     0         reads and one barrier: the order has no submission
///     barrier   neither: a barrier has entered here, and the order does not count it
///     ordered   reads: a thread holds the queue's lock, or the order has reads or awaited work
///     closed    neither: the order has a barrier, or is suspended
///
/// Barriers move it between the first two. All else is done under the queue's lock. Its holder first takes the gate over (``takeOver()``),
/// unless that is ordered or closed already. So no barrier enters while the order changes. One that has entered is from then on a barrier
/// of the order, as if it had been submitted there: its exchange in ``leaveBarrier()`` fails, and it leaves under the lock. Between the two
/// steps of taking it over the word is barrier + ordered, which is closed to all.
///
/// PAIR queue-gate. Other end: FastGate.enter, FastGate.leave, FastGate.close and FastGate.enterBarrier name each other here. A reader
/// counts itself, then looks at the gate. Who brings a barrier closes the gate, then looks at the counts. All of these are
/// sequentially consistent, so that not both can miss the other (Dekker). So once the gate is closed and a stripe was seen at
/// zero, a reader that comes to that stripe later sees the gate closed and turns back. Leaving is the same pair: a reader
/// uncounts itself, then looks at the gate, and if it is closed asks whether the barrier may begin now; without that look the
/// barrier could wait for a reader that is gone. Acquire and release come with it: readers see what the barrier before did,
/// and a barrier what the readers before did.
@usableFromInline @safe
struct FastGate: @unchecked Sendable {
  // Sendable because the memory is used by atomics only, and the address never changes.
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let stripes: Int

  @usableFromInline static var lineBytes: Int { 64 }

  private static var barrier: UInt64 { 1 }
  private static var closed: UInt64 { 2 }
  private static var ordered: UInt64 { 4 }
  @usableFromInline static var isClosedToReads: UInt64 { 3 }

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

  /// Frees the memory; called by the last who knows of the gate.
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
  var isClosed: Bool { unsafe shm_load_seqcst(base) & Self.isClosedToReads != 0 }

  @inlinable @inline(__always)
  func line(_ index: Int) -> UnsafeMutableRawPointer { unsafe base + index &* Self.lineBytes }

  // MARK: - Barriers

  /// Lets the barrier in if the order knows of nobody. The caller then asks ``isEmpty``: if a reader is inside, it must not run. In both
  /// cases it calls ``leaveBarrier()``.
  @inline(__always)
  func enterBarrier() -> Bool { unsafe shm_cas_seqcst(base, 0, Self.barrier) }

  /// - Returns: false if the order has taken the barrier over: then it leaves by ``SubmissionOrder/finishBarrier()``, under the lock.
  @inline(__always)
  func leaveBarrier() -> Bool { unsafe shm_cas_seqcst(base, Self.barrier, 0) }

  /// Is no reader inside? With the gate closed; may say no because of one that is turning back.
  var isEmpty: Bool {
    for stripe in 1...stripes where unsafe shm_load_seqcst(line(stripe)) != 0 { return false }
    return true
  }

  // MARK: - The queue, under its lock

  /// Lets no barrier in from now on. With the gate neither ordered nor closed.
  /// - Returns: whether one has entered: then the gate is closed, and the barrier the order's.
  func takeOver() -> Bool {
    // One addition, not a load and a store: a barrier could enter between those and be lost. From then on no exchange of a barrier's succeeds.
    guard unsafe shm_add_seqcst(base, Self.ordered) == Self.barrier else { return false }
    close()
    return true
  }

  func close() { _ = unsafe shm_exchange_seqcst(base, Self.closed) }

  /// Lets reads in, and no barrier.
  func open() { unsafe shm_store_release(base, Self.ordered) }

  /// Lets reads in, and one barrier.
  func openToBarriers() { unsafe shm_store_release(base, 0) }
}
