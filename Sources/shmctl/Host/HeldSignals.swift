import Glibc

/// SIGHUP, SIGINT and SIGTERM, put off while they would leave something half-done. One that is ignored, as SIGHUP under nohup(1), stays so.
///
/// This thread alone could take them: the library's own threads have all signals blocked.
final class HeldSignals {
  private static let numbers = [SIGHUP, SIGINT, SIGTERM]

  private var set = sigset_t()
  private var before = sigset_t()
  private var isHolding = false

  func hold() {
    guard !isHolding else { return }
    isHolding = true
    unsafe sigemptyset(&set)
    _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &before)
    for number in Self.numbers where unsafe !Self.isIgnored(number) && sigismember(&before, number) == 0 {
      unsafe sigaddset(&set, number)
    }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Whether one has come.
  var areWaiting: Bool {
    var pending = sigset_t()
    guard isHolding, unsafe sigpending(&pending) == 0 else { return false }
    return Self.numbers.contains { unsafe sigismember(&set, $0) == 1 && sigismember(&pending, $0) == 1 }
  }

  /// Lets those act that have come, and those to come.
  func release() {
    guard isHolding else { return }
    isHolding = false
    _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // Functions are compared by their addresses; this one's is 1.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
