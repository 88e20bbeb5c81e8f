import Glibc

/// What the daemon asks of the kernel for itself, before it does anything else.
enum HostProcess {
  /// Signals that mean nothing to the daemon and whose default is to end a process: a reader of its log that went away
  /// (SIGPIPE), a `kill -USR1` meant for another program, a timer that whoever started it had set.
  private static let signalsWithoutMeaning = [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL]

  /// Ignores the signals that mean nothing here. The daemon starts no programs that would inherit that.
  static func ignoreSignalsWithoutMeaning() {
    for number in signalsWithoutMeaning { _ = signal(number, SIG_IGN) }
  }

  /// Raises the limit of open descriptors to what the administrator allows (the hard limit): each table takes two, and the
  /// soft limit, 1,024 on most hosts, is that low for programs that use select(2). If the kernel refuses, the limit stays,
  /// and a table that finds no descriptor says so.
  static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
