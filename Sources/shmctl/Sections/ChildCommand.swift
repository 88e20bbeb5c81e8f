import Glibc

/// A command that runs in a section (`read`, `barrier`): the section ends after it.
struct ChildCommand {
  private let process: ChildProcess

  init(_ process: ChildProcess) { self.process = process }

  /// Signals that would end this process before its command has ended. This thread alone could take them: the library's own
  /// threads have all signals blocked.
  private static var held: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD] { unsafe sigaddset(&set, signal) }
    return set
  }

  /// Runs it to its end. Called inside the section: until here, while the table is waited for, signals do what they always
  /// do. From here on what the terminal sends at Ctrl-C goes to the command too, and is its to obey; what another process
  /// sends here is passed on.
  /// - Returns: its exit status, as the shell counts.
  /// - Throws: `CannotStart`; a complaint if it cannot be waited for.
  func run() throws -> Int32 {
    var set = Self.held
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let child = try process.start()
    passOn(&set, to: child)
    while true {
      var status: Int32 = 0
      let ended = unsafe waitpid(child, &status, WNOHANG)
      if ended == child { return ChildProcess.exitStatus(status) }
      if ended < 0, errno != EINTR { throw Complaint(.failure, "cannot wait for the command: \(SystemReason.last)") }
      var info = unsafe siginfo_t()
      let signal = unsafe sigwaitinfo(&set, &info)
      guard signal > 0, signal != SIGCHLD else { continue }
      let isOfTerminal = unsafe info.si_code == Self.ofKernel && (signal == SIGINT || signal == SIGQUIT)
      if !isOfTerminal { kill(child, signal) }
    }
  }

  /// What came while the command was being started, which may have been too early for it to have it from the terminal.
  private func passOn(_ set: inout sigset_t, to child: pid_t) {
    var atOnce = timespec()
    while true {
      let signal = unsafe sigtimedwait(&set, nil, &atOnce)
      if signal <= 0 { return }
      if signal != SIGCHLD { kill(child, signal) }
    }
  }

  /// SI_KERNEL, whose header the importer does not show.
  private static let ofKernel: Int32 = 0x80
}
