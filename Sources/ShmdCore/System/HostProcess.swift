import Glibc
import SharedMemory

/// What the daemon asks of the kernel for itself, before it does anything else.
enum HostProcess {
  /// Signals that mean nothing to the daemon and whose default is to end a process: a reader of its log that went away
  /// (SIGPIPE), a `kill -USR1` meant for another program, a timer that whoever started it had set.
  private static let signalsWithoutMeaning = [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL]

  /// Ignores the signals that mean nothing here. The daemon starts no programs that would inherit that.
  static func ignoreSignalsWithoutMeaning() {
    for number in signalsWithoutMeaning { _ = signal(number, SIG_IGN) }
  }

  /// What a process is called; nil if there is none.
  static func name(of pid: Int32) -> String? {
    (try? HostFile.text(of: "/proc/\(pid)/comm")).map { String($0.prefix { $0 != "\n" }) }
  }

  /// A variable of the environment; nil if unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Gives up root's rights for those of a user, with the user's groups, for good. Does nothing if root does not run it.
  static func become(_ name: String) throws(Complaint) {
    guard geteuid() == 0, name != "root" else { return }
    var entry = unsafe passwd()
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    var found: UnsafeMutablePointer<passwd>?
    guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
      throw Complaint(
        "there is no such user, so nothing is compared with this host; run systemd-sysusers, or name the service's user with --user; for a daemon "
          + "that you start yourself: --user root")
    }
    let group = unsafe entry.pw_gid
    let user = unsafe entry.pw_uid
    guard unsafe initgroups(name, group) == 0, setgid(group) == 0, setuid(user) == 0 else {
      throw Complaint("the rights cannot be changed to its (error \(errno)); name another with --user")
    }
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

  /// So many descriptors stay free when the daemon opens tables and stores: libdispatch opens files in /proc to look after its threads, and traps
  /// if it cannot; the servers open theirs after the tables.
  static let descriptorReserve = 32

  /// Whether the reserve is free. Looks from the limit down, since the kernel gives the lowest number that is free: mostly after
  /// as many looks as the reserve has descriptors.
  static var hasDescriptorReserve: Bool {
    guard let limit = descriptorLimit else { return true }
    var free = 0
    for number in stride(from: limit - 1, through: 0, by: -1) where fcntl(Int32(clamping: number), F_GETFD) < 0 {
      free += 1
      if free == descriptorReserve { return true }
    }
    return false
  }

  /// How many descriptors this process may have; nil if the kernel does not tell.
  static var descriptorLimit: Int? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Int(clamping: limit.rlim_cur)
  }
}
