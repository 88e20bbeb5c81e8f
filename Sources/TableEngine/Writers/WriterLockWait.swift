import CShims
import SharedMemory

/// Waiting for W: it spins before it sleeps, and is overtaken a bounded number of times.
///
/// A thread that finds W free may take it though others wait: it goes on at once, which is much faster than waking
/// another first. But *ctl* names the foremost waiter, the one whose wait began first. Once that is *due*, all others
/// hold back.
///
/// ```
/// a waiter                                            a thread that comes meanwhile
/// begin = turns                                       no foremost waiter, or not due: tries W
/// names itself, unless an older one is named          due: becomes a waiter
/// foremost: spins for W; sleeps for W
/// not foremost: spins; tries W if nobody had it since
/// its last look and the foremost waiter is not due;
///      then marks the word and sleeps until it changes
/// owns W or gives up: if it is named, clears the word, and wakes those who sleep until it changes
/// ```
/// How many turns others may have before a waiter is due: ``overtakings``. When a foremost waiter goes and others sleep, it leaves the word
/// vacant as of that turn, and the woken threads have as many turns to take the place.
///
/// All of this is fairness. The mutex alone says who owns W: whatever the word says, at most one thread does, and a
/// dead owner's work is found. And no thread depends on the one that is named, which may be stopped or dead: a thread
/// that lets it go first, and finds W free and not taken for ``patienceNanoseconds``, takes its place. So a foremost
/// waiter that does not come costs the others that time, once. `Models/overtaking.pml` checks the bound for the one
/// that is named, and that no thread waits for ever for one that died.
struct WriterLockWait {
  let ctl: MappedMemory
  let mutex: RobustMutex
  /// The calling thread's.
  let slot: Int

  /// How long to sleep at most before looking again: a thread that dies wakes nobody.
  private static let sliceNanoseconds: UInt64 = 10_000_000
  /// For how long the others leave W free for a waiter that is due: long enough for one that is awake and finds a processor.
  private static let patienceNanoseconds: UInt64 = 2_000_000
  /// How long to spin while nothing changes: a few times what sleeping and waking cost.
  private static let spinNanoseconds: UInt64 = 20_000
  /// The shortest and the longest time between two looks at W, each of which costs an owner with short turns a cache
  /// miss. A thread that gives W back and wants it again at once has it again within the shortest.
  static let lookNanoseconds: ClosedRange<UInt64> = 400...10_000

  // Relaxed, as all here: whatever these words say, it is a hint. What W protects is ordered by the mutex.
  private var foremost: ForemostWaiterWord { ForemostWaiterWord(word: ctl.loadRelaxed(ControlLayout.foremostWaiter)) }
  private var turns: UInt64 { ctl.loadRelaxed(ControlLayout.turns) }
  private var event: FutexEvent { unsafe FutexEvent(at: ctl.pointer(ControlLayout.foremostWaiter)) }

  private func replace(_ old: ForemostWaiterWord, by new: ForemostWaiterWord) -> Bool {
    ctl.compareAndSwap(ControlLayout.foremostWaiter, expected: old.word, desired: new.word)
  }

  /// Waits for W at most so long; never `busy`.
  func run(timeoutNanoseconds: UInt64) -> LockResult {
    let start = HostClock.monotonicNanoseconds
    let (end, overflow) = start.addingReportingOverflow(timeoutNanoseconds)
    let deadline = overflow ? .max : end
    let since = turns
    // The failed attempt before this wait counts as a look, made the shortest look's time ago. So if the writer that owned W then has given it back
    // and not taken it again, this thread may take W at its first look.
    var (now, look) = (start, Look(turns: since, at: start &- Self.lookNanoseconds.lowerBound))
    while true {
      if now >= deadline {
        withdraw(since)
        let last = mutex.tryLock()
        return last == .busy ? .timedOut : last
      }
      let me = ForemostWaiterWord(slot: slot, since: since, isDue: now &- start >= Self.sliceNanoseconds)
      let foremost = nameForemost(me, since)
      var result = spin(me, foremost, &look, now, deadline)
      if result == .busy {
        now = HostClock.monotonicNanoseconds
        let nanoseconds = min(Self.sliceNanoseconds, deadline > now ? deadline - now : 0)
        result = foremost.isSameWait(as: me) ? sleepForW(me, nanoseconds) : sleepForWord(me, foremost, nanoseconds)
      }
      if result != .busy {
        withdraw(since)
        return result
      }
      now = HostClock.monotonicNanoseconds
    }
  }

  /// Names this waiter as the foremost, unless an older one is.
  /// - Returns: the foremost waiter.
  private func nameForemost(_ me: ForemostWaiterWord, _ since: UInt64) -> ForemostWaiterWord {
    while true {
      let named = foremost
      if named.isSameWait(as: me) {
        if named.isDueByTime || !me.isDueByTime { return named }
      } else if !named.isNone, !named.isYounger(than: since) {
        return named
      }
      let new = me.withSleepers(named.hasSleepers)
      if replace(named, by: new) { return new }
    }
  }

  /// Takes this waiter's name away, if it is still there, and wakes those who sleep until the word changes.
  private func withdraw(_ since: UInt64) {
    let me = ForemostWaiterWord(slot: slot, since: since, isDue: false)
    while true {
      let named = foremost
      guard named.isSameWait(as: me) else { return }
      let next = named.hasSleepers ? ForemostWaiterWord(vacantSince: turns) : .none
      guard replace(named, by: next) else { continue }
      // If there was nobody to wake, the sleepers that set the mark were killed: then the place is not kept vacant for
      // them.
      if named.hasSleepers, event.wakeAll() == 0 { _ = replace(next, by: .none) }
      return
    }
  }

  // MARK: - Spinning and sleeping

  /// What a waiter has seen last: so many turns, at that time.
  private struct Look {
    var turns: UInt64
    var at: UInt64
  }

  /// Looks for W to become free, and takes it then; the foremost goes on as long as turns are short. While others have turn
  /// after turn it leaves them to it until it is due: each change of hands costs more than a short turn. So a waiter that is
  /// not due takes W only if no other writer has had W since this waiter looked before, at least 400 ns ago.
  /// - Returns: `busy` if the foremost waiter is another by now, or it is time to sleep.
  private func spin(
    _ me: ForemostWaiterWord, _ foremost: ForemostWaiterWord, _ look: inout Look, _ start: UInt64, _ deadline: UInt64
  ) -> LockResult {
    let isForemost = foremost.isSameWait(as: me)
    var (now, since) = (start, start)
    repeat {
      let newest = turns
      let isLeftAlone = newest == look.turns && now &- look.at >= Self.lookNanoseconds.lowerBound
      if Self.isDue(foremost, ctl) ? isForemost : isLeftAlone, mutex.looksFree {
        let result = mutex.tryLock()
        if result != .busy { return result }
      }
      // With one processor, the owner needs it.
      guard shmos_has_several_processors() else { return .busy }
      var pause = Self.lookNanoseconds.lowerBound
      if newest != look.turns, isForemost {
        let left = Self.overtakings - foremost.turnsPassed(at: newest)
        pause = Self.untilNextLook(left: left, afterLast: newest &- look.turns, in: now &- look.at)
        since = now
      }
      look = Look(turns: newest, at: now)
      now = Self.pause(until: now &+ pause)
      guard self.foremost.isSameWait(as: foremost) else { return .busy }
    } while now &- since < Self.spinNanoseconds && now < deadline
    return .busy
  }

  /// When the foremost waiter looks next: after five eighths of the time until it is due, if others go on as in the time since the
  /// last look, but at most after twice that time. An owner's first turns after a change of hands miss the cache and are slow.
  /// By their length alone the waiter would look too late, and W would lie idle, since nobody else may take it from one that is due.
  /// - Parameter left: how many turns of others are left until then.
  static func untilNextLook(left: Int64, afterLast turns: UInt64, in nanoseconds: UInt64) -> UInt64 {
    guard left > 0 else { return 0 }
    let untilDue = nanoseconds &* UInt64(left) / turns
    return max(100, min(untilDue / 8 &* 5, nanoseconds &* 2, lookNanoseconds.upperBound))
  }

  /// - Returns: the time.
  private static func pause(until end: UInt64) -> UInt64 {
    while true {
      for _ in 0..<2 { shm_pause() }
      let now = HostClock.monotonicNanoseconds
      if now >= end { return now }
    }
  }

  /// How the foremost waiter sleeps: for W itself, so the owner that unlocks wakes it.
  private func sleepForW(_ me: ForemostWaiterWord, _ nanoseconds: UInt64) -> LockResult {
    guard foremost.isSameWait(as: me) else { return .busy }
    let result = mutex.lock(timeoutNanoseconds: nanoseconds)
    return result == .timedOut ? .busy : result
  }

  /// How the others sleep: until the word changes. If W was free all that time and the foremost waiter did not take it,
  /// this thread takes its place.
  private func sleepForWord(_ me: ForemostWaiterWord, _ foremost: ForemostWaiterWord, _ nanoseconds: UInt64)
    -> LockResult
  {
    let turn = turns
    let wasFree = mutex.looksFree
    let named = self.foremost
    let marked = named.withSleepers()
    guard named.isSameWait(as: foremost), named.hasSleepers || replace(named, by: marked) else { return .busy }
    let slice = wasFree ? min(nanoseconds, Self.patienceNanoseconds) : nanoseconds
    let woken = event.wait(while: UInt32(truncatingIfNeeded: marked.word), timeoutNanoseconds: slice)
    guard wasFree, woken == .timedOut, mutex.looksFree, turn == turns else { return .busy }
    _ = replace(marked, by: me.withSleepers())
    return .busy
  }
}
