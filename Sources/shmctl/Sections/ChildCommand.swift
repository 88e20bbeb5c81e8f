import Glibc

/// A command that runs as a child: in a section (`read`, `barrier`), or for each change (`watch --exec`).
struct ChildCommand {
  private let words: [[UInt8]]
  private let additions: [(name: String, value: [UInt8])]

  init(_ words: [[UInt8]], environment additions: [(name: String, value: [UInt8])]) {
    self.words = words
    self.additions = additions
  }

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
  /// - Returns: its exit status; 128 and the signal's number if a signal ended it, as the shell counts.
  func run() throws -> Int32 {
    let child = try start()
    var set = Self.held
    while true {
      var status: Int32 = 0
      let ended = unsafe waitpid(child, &status, WNOHANG)
      if ended == child { return Self.exitStatus(status) }
      if ended < 0, errno != EINTR { throw Complaint(.failure, "cannot wait for the command: \(SystemReason.last)") }
      var info = unsafe siginfo_t()
      let signal = unsafe sigwaitinfo(&set, &info)
      guard signal > 0, signal != SIGCHLD else { continue }
      let isOfTerminal = unsafe info.si_code == Self.ofKernel && (signal == SIGINT || signal == SIGQUIT)
      if !isOfTerminal { kill(child, signal) }
    }
  }

  /// Runs it to its end, for who holds nothing: signals act as usual, on both.
  func runPlainly() throws -> Int32 {
    do {
      let child = try start()
      var status: Int32 = 0
      while unsafe waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { throw Complaint(.failure, "cannot wait for the command: \(SystemReason.last)") }
      }
      return Self.exitStatus(status)
    } catch let error as CannotStart {
      throw Complaint(.failure, error.message)
    }
  }

  /// SI_KERNEL, whose header the importer does not show.
  private static let ofKernel: Int32 = 0x80

  private static func exitStatus(_ status: Int32) -> Int32 {
    status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  private func start() throws -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The command takes signals as usual.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = unsafe words.map { unsafe Self.copied($0) }
    unsafe arguments.append(nil)
    var environment = unsafe additions.map { unsafe Self.copied(Array("\($0.name)=".utf8) + $0.value) }
    let ours = additions.count
    let names = additions.map { "\($0.name)=" }
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      if !names.contains(where: { unsafe strncmp(variable, $0, $0.utf8.count) == 0 }) {
        unsafe environment.append(variable)
      }
      unsafe next += 1
    }
    unsafe environment.append(nil)
    defer {
      unsafe arguments.forEach { word in unsafe free(word) }
      unsafe environment[..<ours].forEach { word in unsafe free(word) }
    }
    var child: pid_t = 0
    let program = unsafe arguments[0]!
    let error = unsafe posix_spawnp(&child, program, nil, &attributes, arguments, environment)
    guard error == 0 else {
      errno = error
      let reason = SystemReason.last
      let shown = StandardError.printable(String(decoding: words[0].prefix(64), as: UTF8.self))
      throw CannotStart(status: error == ENOENT ? 127 : 126, message: "cannot run '\(shown)': \(reason)")
    }
    return child
  }

  /// As the shell counts: 127 if there is no such command, 126 if it cannot be run.
  struct CannotStart: Error {
    let status: Int32
    let message: String
  }

  private static func copied(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    let copy = unsafe UnsafeMutablePointer<CChar>(OpaquePointer(malloc(bytes.count + 1)))
    for (index, byte) in bytes.enumerated() { unsafe copy?[index] = CChar(bitPattern: byte) }
    unsafe copy?[bytes.count] = 0
    return unsafe copy
  }
}
