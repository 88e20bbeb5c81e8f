import Glibc

/// The one way in which this program starts others.
struct ChildProcess {
  let words: [[UInt8]]
  var additions: [(name: String, value: [UInt8])] = []
  /// Whether Ctrl-C acts on it, though it is ignored here. Signals that are blocked here are not blocked there in any case.
  var isInForeground = false
  /// Whether its standard input is empty; else it reads ours.
  var hasNoInput = false
  /// Its standard output, if not ours.
  var output: Int32?
  /// Where its complaints go, if not where ours do.
  var complaints: Int32?
  /// Whether its complaints go nowhere.
  var isSilent = false

  /// As the shell counts: 127 if there is no such command, 126 if it cannot be run.
  struct CannotStart: Error {
    let status: Int32
    let message: String
  }

  /// Runs it to its end.
  /// - Returns: its exit status; 128 and the signal's number if a signal ended it, as the shell counts.
  func run() throws -> Int32 {
    do {
      return try Self.wait(for: try start())
    } catch let error as CannotStart {
      throw Complaint(.failure, error.message)
    }
  }

  /// Runs it while Ctrl-C is its own: we go on behind it.
  func runInForeground() throws -> Int32 {
    let before = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
    defer {
      _ = signal(SIGINT, before.0)
      _ = signal(SIGQUIT, before.1)
    }
    var child = self
    child.isInForeground = true
    return try child.run()
  }

  static func wait(for child: pid_t) throws -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Complaint(.failure, "cannot wait for the command: \(SystemReason.last)") }
    }
    return exitStatus(status)
  }

  /// What the shell makes of a status of waitpid(2).
  static func exitStatus(_ status: Int32) -> Int32 {
    status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  /// - Throws: `CannotStart`.
  func start() throws -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    setSignals(&attributes)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if hasNoInput { unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    if let complaints { unsafe posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO) }
    if isSilent { unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
    var child: pid_t = 0
    let error = unsafe Self.withCopies(of: words) { arguments in
      unsafe Self.withCopies(of: environment) { environment in
        unsafe posix_spawnp(&child, arguments[0]!, &actions, &attributes, arguments, environment)
      }
    }
    guard error == 0 else {
      errno = error
      let shown = StandardError.printable(String(decoding: words[0].prefix(64), as: UTF8.self))
      throw CannotStart(status: error == ENOENT ? 127 : 126, message: "cannot run '\(shown)': \(SystemReason.last)")
    }
    return child
  }

  private func setSignals(_ attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var flags = POSIX_SPAWN_SETSIGMASK
    if isInForeground {
      for signal in [SIGINT, SIGQUIT] { unsafe sigaddset(&none, signal) }
      unsafe posix_spawnattr_setsigdefault(&attributes, &none)
      flags |= POSIX_SPAWN_SETSIGDEF
    }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  /// Ours, with the additions in place of what has their names.
  private var environment: [[UInt8]] {
    let names = additions.map { Array("\($0.name)=".utf8) }
    var result = additions.map { Array("\($0.name)=".utf8) + $0.value }
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: variable, count: strlen(variable)))
      if !names.contains(where: { bytes.starts(with: $0) }) { result.append(bytes) }
      unsafe next += 1
    }
    return result
  }

  /// Words as C takes them: each with a zero byte behind it, a null pointer behind the last.
  private static func withCopies<R>(
    of words: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    // With a zero byte behind each: never an empty buffer.
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { word in
      unsafe (word + [0]).withUnsafeBytes { bytes in
        unsafe strdup(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
      }
    }
    unsafe copies.append(nil)
    defer { unsafe copies.forEach { copy in unsafe free(copy) } }
    return unsafe body(copies)
  }
}
