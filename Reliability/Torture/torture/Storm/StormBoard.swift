import CShims
import TestSupport

/// What the processes of a storm tell each other, and the conductor: words of a file that all map. It outlives them.
final class StormBoard: Sendable {
  /// Of everybody.
  enum Word: Int {
    /// 1: end.
    case stop
    /// Churned keys are numbered below this.
    case ceiling
    /// The newest version that anybody has seen committed.
    case newest
  }

  /// Of one place that a process takes, and after its death the next.
  enum Count: Int, CaseIterable {
    /// Barriers of this place that began and were not seen to fail, and those that returned.
    case began, done
    /// Threads of this place that are in the middle of a barrier just now.
    case inside
    case sections, barriers, snapshots, forks
    /// What others made impossible: full, timed out, evicted, busy.
    case refusals
    /// Signs of life.
    case beats
    /// Single lookups, and the nanoseconds of its processor that the thread took for them.
    case reads, processorTime
  }

  private static let lineBytes = 128
  let seats: Int
  private let file: SharedFile

  init(path: String, seats: Int) {
    self.seats = seats
    file = SharedFile(path: path, byteCount: Self.lineBytes * (seats + 1))
  }

  subscript(word: Word) -> UInt64 {
    get { shm_load_acquire(file.base + word.rawValue * 8) }
    set { shm_store_release(file.base + word.rawValue * 8, newValue) }
  }

  private func place(_ seat: Int, _ count: Count) -> UnsafeMutableRawPointer {
    file.base + (seat + 1) * Self.lineBytes + count.rawValue * 8
  }

  func count(_ seat: Int, _ count: Count) -> UInt64 { shm_load_acquire(place(seat, count)) }

  func sum(_ count: Count) -> UInt64 { (0..<seats).reduce(0) { $0 &+ self.count($1, count) } }

  /// By any thread of any process.
  func add(_ seat: Int, _ count: Count, _ amount: Int = 1) {
    let word = place(seat, count)
    while true {
      let old = shm_load_acquire(word)
      if shm_cas_seqcst(word, old, old &+ UInt64(bitPattern: Int64(amount))) { return }
    }
  }

  func set(_ seat: Int, _ count: Count, _ value: UInt64) { shm_store_release(place(seat, count), value) }

  /// Somebody has seen this version: who begins from now on sees it too (G4).
  func raiseNewest(to version: UInt64) {
    let word = file.base + Word.newest.rawValue * 8
    while true {
      let old = shm_load_acquire(word)
      if old >= version || shm_cas_seqcst(word, old, version) { return }
    }
  }
}
