import Glibc
import TestSupport

extension WorkerProcess {
  /// Has the process ended, by itself or by a signal? It is not reaped by asking.
  var hasEnded: Bool {
    var info = siginfo_t()
    waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT)
    return info.si_signo != 0
  }
}
