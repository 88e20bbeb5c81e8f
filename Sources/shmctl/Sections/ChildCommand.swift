import Glibc

/// A command that runs in a section (`read`, `barrier`): the section ends after it.
struct ChildCommand {
  private let process: ChildProcess

  init(_ process: ChildProcess) { self.process = process }

  /// Signals that would end this process while it holds what it must give back. They are blocked for all its threads,
  /// also those to come: called before a table is opened.
  static func holdSignals() {
    var set = held
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private static var held: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD] { unsafe sigaddset(&set, signal) }
    return set
  }

  /// Runs it to its end. What the terminal sends at Ctrl-C goes to the command too, and is its to obey; what another
  /// process sends here is passed on.
  /// - Returns: its exit status, as the shell counts.
  func run() throws -> Int32 {
    let child = try process.start()
    var set = Self.held
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

  /// SI_KERNEL, whose header the importer does not show.
  private static let ofKernel: Int32 = 0x80
}
