import CShims
import SharedMemory

/// How many times others may overtake the thread that has waited longest for W.
///
/// A waiter is due when others have had ``overtakings`` turns since its wait began, or when it has waited for a slice. Two
/// kinds of thread may still overtake it, once each: a thread that looked at the word before it became due, and a thread whose timeout has
/// passed and that makes its last attempt. With T other threads that is ``overtakings`` + T turns, and k + 1 times as many for a
/// waiter before which k others were waiting.
extension WriterLockWait {
  /// How many turns others may have while a thread waits. Each change of hands costs the cache misses of all that the last
  /// owner stored to.
  static let overtakings: Int64 = 60

  /// May a thread that comes now try W? No if the foremost waiter is due.
  @inline(__always)
  static func mayTry(_ ctl: MappedMemory) -> Bool {
    let foremost = ForemostWaiterWord(word: ctl.loadRelaxed(ControlLayout.foremostWaiter))
    return foremost.isNone || !isDue(foremost, ctl)
  }

  static func isDue(_ foremost: ForemostWaiterWord, _ ctl: MappedMemory) -> Bool {
    foremost.isDueByTime || foremost.turnsPassed(at: ctl.loadRelaxed(ControlLayout.turns)) >= overtakings
  }
}
