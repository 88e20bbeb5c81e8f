import Glibc
import SharedMemory
import Testing

@Suite struct ServiceThreadTests {
  @Test func itGetsNoneOfTheProcesssSignals() throws {
    let thread = try ServiceThread.startJoinable(nil) { _ in
      var mask = sigset_t()
      pthread_sigmask(SIG_SETMASK, nil, &mask)
      let all = [SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGPROF, SIGUSR1, SIGPIPE, SIGXFSZ, 64]
      return UnsafeMutableRawPointer(bitPattern: all.filter { sigismember(&mask, $0) == 0 }.count)
    }
    var missing: UnsafeMutableRawPointer?
    pthread_join(thread, &missing)
    #expect(missing == nil)
  }

  /// What prints a crash's report is such a handler.
  @Test func aFaultReachesTheProgramsHandler() async {
    await #expect(processExitsWith: .exitCode(7)) {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in _exit(7) }
      sigaction(SIGSEGV, &action, nil)
      let thread = try ServiceThread.startJoinable(nil) { _ in
        let page = mmap(nil, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        page.storeBytes(of: 1, as: UInt8.self)
        return nil
      }
      pthread_join(thread, nil)
    }
  }
}
