import Dispatch
import Glibc
import Synchronization

/// A child process that a test steps through by lines of text. The one place where tests start processes.
///
/// It steps on commands and never on sleeps, so the interleaving is the test's. Whatever goes wrong, the child is
/// killed and reaped: when this object goes, or when its time is over, which turns a hang into a failure. Only the
/// process started here is ever signalled.
public final class WorkerProcess: Sendable {
  /// How a process ended.
  public enum Exit: Sendable, Equatable {
    case code(Int32)
    case signal(Int32)
  }

  /// A step that failed, with what the process had written to its standard error until then.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public let pid: Int32
  /// For messages.
  public let name: String

  private let input: Int32  // our end of the socket that is the child's standard input
  private let output: Int32  // our end of the one that is its standard output
  private let errors: Int32  // a nameless file: the child can never block on it, and we need no thread to read it
  private let deadline: DispatchTime
  private let state = Mutex(State())

  private struct State {
    var exit: Exit?
    /// Somebody else has reaped it, and the system tells nobody else how it ended.
    var isLost = false
    var isInputClosed = false
    var isOverdue = false
    var pending: [UInt8] = []

    /// Its number may be somebody else's.
    var isGone: Bool { exit != nil || isLost }
  }

  /// Starts `executable`, a path or the name of a product built beside the test binary.
  /// - Parameters:
  ///   - environment: is added to our own.
  ///   - timeoutSeconds: how long the process may live in all.
  public init(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], timeoutSeconds: Int = 900
  ) throws {
    let path = executable.contains("/") ? executable : Self.productDirectory + "/" + executable
    name = executable
    deadline = .now() + .seconds(timeoutSeconds)

    // Sockets, because a write to one can be told not to raise SIGPIPE when the child is dead, and because they are
    // made close-on-exec at once: a child started beside this one would keep a pipe's other end open.
    let inputPair = try Self.socketPair()
    var opened = [inputPair.ours, inputPair.child]
    let outputPair: (ours: Int32, child: Int32)
    do {
      outputPair = try Self.socketPair()
      opened += [outputPair.ours, outputPair.child]
      errors = try Self.namelessFile()
    } catch {
      for descriptor in opened { close(descriptor) }
      throw error
    }
    input = inputPair.ours
    output = outputPair.ours

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, inputPair.child, 0)
    posix_spawn_file_actions_adddup2(&actions, outputPair.child, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)

    // A test's thread may have signals blocked, which a child inherits.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    // The backtracer would inherit the pipes and keep whoever reads them waiting.
    var variables = Self.ownEnvironment
    variables["SWIFT_BACKTRACE"] = "enable=no"
    variables.merge(environment) { $1 }

    var child: pid_t = 0
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let envp = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    let failure = posix_spawn(&child, path, &actions, &attributes, argv, envp)
    close(inputPair.child)
    close(outputPair.child)
    guard failure == 0 else {
      close(input)
      close(output)
      close(errors)
      throw Failure(description: "cannot start \(path): \(String(cString: strerror(failure)))")
    }
    pid = child

    DispatchQueue.global().asyncAfter(deadline: deadline) { @Sendable [weak self] in self?.overdue() }
  }

  deinit {
    kill(SIGKILL)
    _ = try? wait()
    close(input)
    close(output)
    close(errors)
  }
}

// MARK: - Lines

extension WorkerProcess {
  /// Writes one line to the process.
  public func send(_ line: String) throws {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
      let n = bytes.withUnsafeBytes { Glibc.send(input, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
      if n < 0 && errno == EINTR { continue }
      guard n > 0 else { throw failure("cannot send \"\(line)\": \(String(cString: strerror(errno)))") }
      bytes = bytes.dropFirst(n)
    }
  }

  /// The next line the process writes, without its end.
  public func readLine() throws -> String {
    while true {
      let line: String? = state.withLock { state in
        guard let end = state.pending.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { state.pending.removeFirst(end + 1) }
        return String(decoding: state.pending[..<end], as: UTF8.self)
      }
      if let line { return line }
      guard try readMore() else { throw failure("no further line") }
    }
  }

  /// Reads a line and fails if it is another than `expected`.
  public func expectLine(_ expected: String) throws {
    let line = try readLine()
    if line != expected { throw failure("expected \"\(expected)\", got \"\(line)\"") }
  }

  /// One step: sends a line, and returns the line it is answered with.
  @discardableResult
  public func ask(_ line: String) throws -> String {
    try send(line)
    return try readLine()
  }

  /// One step whose answer is known; another one is a failure.
  public func ask(_ line: String, expecting expected: String) throws {
    let answer = try ask(line)
    if answer != expected { throw failure("\(line): expected \"\(expected)\", got \"\(answer)\"") }
  }

  /// The system calls that a worker may be seen asleep in.
  public enum Sleep: Int {
    #if arch(x86_64)
      case nanosleep = 230
      case futex = 202
    #else
      case nanosleep = 115
      case futex = 98
    #endif
  }

  /// Waits until the process's main thread is in this system call: see `syscall` in proc(5).
  public func waitUntilAsleep(in call: Sleep = .nanosleep) throws {
    var text = [UInt8](repeating: 0, count: 32)
    while !hasOutput {
      let file = open("/proc/\(pid)/syscall", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { throw failure("/proc/\(pid)/syscall: \(String(cString: strerror(errno)))") }
      let count = read(file, &text, text.count)
      close(file)
      if count > 0, Int(String(decoding: text[..<count].prefix { $0 != 0x20 }, as: UTF8.self)) == call.rawValue {
        return
      }
      if millisecondsLeft == 0 { throw failure("never seen asleep") }
      sched_yield()
    }
    throw failure("it answered instead of sleeping: \(try readLine())")
  }

  /// Ends the process's input: a worker that reads commands ends by itself.
  public func closeInput() {
    state.withLock { state in
      if !state.isInputClosed { shutdown(input, Int32(SHUT_WR)) }
      state.isInputClosed = true
    }
  }

  /// Has the process written something that nobody has read yet?
  public var hasOutput: Bool {
    var p = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return state.withLock { !$0.pending.isEmpty } || poll(&p, 1, 0) > 0
  }

  /// Everything the process writes from here until it closes its output.
  public func readToEnd() throws -> String {
    while try readMore() {}
    return state.withLock { state in
      defer { state.pending = [] }
      return String(decoding: state.pending, as: UTF8.self)
    }
  }

  /// What the process has written to its standard error so far.
  public var standardError: String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let n = pread(errors, &buffer, buffer.count, off_t(text.count))
      if n < 0 && errno == EINTR { continue }
      if n <= 0 { break }
      text += buffer[..<n]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Waits for output; false at its end.
  private func readMore() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var p = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let ready = poll(&p, 1, millisecondsLeft)
      if ready < 0 && errno == EINTR { continue }
      if ready == 0 {
        overdue()
        throw failure("no output until the time was over")
      }
      let n = read(output, &buffer, buffer.count)
      if n < 0 && errno == EINTR { continue }
      if n <= 0 { return false }
      state.withLock { $0.pending += buffer[..<n] }
      return true
    }
  }
}

// MARK: - Life

extension WorkerProcess {
  /// Signals the process, unless it has been reaped: its number may be somebody else's by then.
  public func kill(_ signal: Int32) {
    state.withLock { state in
      if !state.isGone { _ = Glibc.kill(pid, signal) }
    }
  }

  /// Waits for the process to end and reaps it.
  /// - Throws: if its time was over, or if somebody else reaped it: where SIGCHLD is ignored, the kernel does.
  @discardableResult
  public func wait() throws -> Exit {
    var pause: useconds_t = 200
    while true {
      let (exit, isLost, isOverdue) = state.withLock { state in
        if !state.isGone { reap(&state) }
        return (state.exit, state.isLost, state.isOverdue)
      }
      if isLost { throw failure("somebody else reaped it; is SIGCHLD ignored?") }
      if let exit {
        if isOverdue { throw failure("killed: its time was over") }
        return exit
      }
      if millisecondsLeft == 0 { overdue() }
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
  }

  /// `kill -9`, and waits until the kernel has cleaned up after the process: its robust mutexes are marked by then.
  public func killAndWait() throws {
    kill(SIGKILL)
    let exit = try wait()
    if exit != .signal(SIGKILL) { throw failure("ended by itself: \(exit)") }
  }

  /// Ends the input and expects the process to exit with 0.
  public func finish() throws {
    closeInput()
    let exit = try wait()
    if exit != .code(0) { throw failure("ended with \(exit)") }
  }

  /// Runs a process to its end.
  public static func run(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], input: String? = nil,
    timeoutSeconds: Int = 900
  ) throws -> (exit: Exit, output: String, errors: String) {
    let process = try WorkerProcess(executable, arguments, environment: environment, timeoutSeconds: timeoutSeconds)
    if let input { try process.send(input) }
    process.closeInput()
    let output = try process.readToEnd()
    return (try process.wait(), output, process.standardError)
  }

  /// Where the products lie: beside the test binary.
  public static let productDirectory: String = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let n = buffer.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
    let path = String(decoding: buffer[..<max(0, n)], as: UTF8.self)
    return path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
  }()

  private static func socketPair() throws -> (ours: Int32, child: Int32) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw Failure(description: "socketpair: \(String(cString: strerror(errno)))")
    }
    return (pair[0], pair[1])
  }

  private static func namelessFile() throws -> Int32 {
    var template = Array("/tmp/worker-stderr-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure(description: "mkstemp: \(String(cString: strerror(errno)))") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
    return descriptor
  }

  private func reap(_ state: inout State) {
    var status: Int32 = 0
    let reaped = waitpid(pid, &status, WNOHANG)
    if reaped == pid {
      let signal = status & 0x7f
      state.exit = signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    } else if reaped < 0, errno == ECHILD {
      state.isLost = true
    }
  }

  private func overdue() {
    state.withLock { state in
      if !state.isGone && !state.isOverdue {
        state.isOverdue = true
        _ = Glibc.kill(pid, SIGKILL)
      }
    }
  }

  private var millisecondsLeft: Int32 {
    let now = DispatchTime.now().uptimeNanoseconds
    let end = deadline.uptimeNanoseconds
    return end <= now ? 0 : Int32(clamping: (end - now) / 1_000_000 + 1)
  }

  private func failure(_ what: String) -> Failure {
    let overdue = state.withLock { $0.isOverdue } ? " (killed: its time was over)" : ""
    let errors = standardError
    return Failure(
      description: "\(name) [\(pid)]: \(what)\(overdue)" + (errors.isEmpty ? "" : "\nstandard error:\n\(errors)"))
  }

  private static var ownEnvironment: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return variables
  }
}
