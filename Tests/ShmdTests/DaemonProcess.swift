import Glibc
import SharedMemory
import SharedTable
import Synchronization

/// A program as a process, with its standard error read line by line: tests wait for lines, never for time.
final class ChildProcess {
  /// A wait that came to nothing, with what the process said until then.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let pid: pid_t
  private let output: Int32
  private var pending: [UInt8] = []
  private(set) var lines: [String] = []
  /// How far `waitForLine` has looked.
  private var lookedAt = 0
  private var exitStatus: Int32?

  /// How long any wait may take before it is a failure: far more than any needs.
  static let patienceMilliseconds = 60_000

  init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw Failure(description: "socketpair: error \(errno)")
    }
    output = pair[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1)
    posix_spawn_file_actions_adddup2(&actions, pair[1], 2)
    var variables = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SWIFT_BACKTRACE": "enable=no"]
    for name in ["LD_LIBRARY_PATH", "HOME"] { variables[name] = getenv(name).map { String(cString: $0) } }
    variables.merge(environment) { $1 }
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let envp = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var child: pid_t = 0
    let failure = posix_spawn(&child, path, &actions, nil, argv, envp)
    close(pair[1])
    pid = child
    guard failure == 0 else { throw Failure(description: "cannot start \(path): error \(failure)") }
  }

  deinit {
    if exitStatus == nil {
      kill(pid, SIGKILL)
      var status: Int32 = 0
      waitpid(pid, &status, 0)
    }
    close(output)
  }

  /// A product, built beside the test binary.
  static func product(_ name: String) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
  }

  func signal(_ number: Int32) {
    if exitStatus == nil { kill(pid, number) }
  }

  /// Waits for a line, behind those that earlier waits found, that contains `text`.
  @discardableResult
  func waitForLine(_ text: String) throws -> String {
    while true {
      while lookedAt < lines.count {
        lookedAt += 1
        if lines[lookedAt - 1].contains(text) { return lines[lookedAt - 1] }
      }
      guard try readMore() else { throw Failure(description: "no line with '\(text)' in:\n\(transcript)") }
    }
  }

  /// Waits for the end: the exit code, or the signal's number as a negative one.
  func wait() throws -> Int32 {
    while try readMore() {}
    if let exitStatus { return exitStatus }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    let result = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    exitStatus = result
    return result
  }

  var transcript: String { lines.joined(separator: "\n") }

  private func readMore() throws -> Bool {
    var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, Int32(Self.patienceMilliseconds)) > 0 else {
      throw Failure(description: "no output for \(Self.patienceMilliseconds) ms, after:\n\(transcript)")
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(output, &buffer, buffer.count)
    guard count > 0 else { return false }
    pending += buffer[..<count]
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: pending[..<end], as: UTF8.self))
      pending.removeFirst(end + 1)
    }
    return true
  }
}

/// Plays the service manager: the socket that `NOTIFY_SOCKET` names.
final class NotifySocket {
  let address: String
  private let descriptor: Int32
  private(set) var messages: [String] = []

  /// - Parameter address: a path, or `@` and an abstract name.
  init(_ address: String) throws {
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(2 + bytes.count)
    let bound = withUnsafePointer(to: name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard bound == 0 else { throw ChildProcess.Failure(description: "bind \(address): error \(errno)") }
  }

  deinit { close(descriptor) }

  /// Waits for a message with this line and returns the whole message.
  @discardableResult
  func waitFor(_ line: String) throws -> String {
    while true {
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, Int32(ChildProcess.patienceMilliseconds)) > 0 else {
        throw ChildProcess.Failure(description: "no '\(line)' among \(messages)")
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      let message = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      messages.append(message)
      if message.split(separator: "\n").contains(where: { $0 == line }) { return message }
    }
  }
}

/// A private corner of the host for one test: a directory, a configuration file, table names that nobody else uses.
/// Whatever the test leaves, ends with it.
final class Corner {
  let directory: String
  private var tables: [String] = []
  private static let counter = Atomic(0)

  init() throws {
    var template = Array("/tmp/shmd-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ChildProcess.Failure(description: "mkdtemp: error \(errno)") }
    directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for table in tables {
      for object in ["shmtable.\(table).ctl", "shmtable.\(table).data"] { try? SharedObject.unlink(name: object) }
    }
    for file in ["shmd.yaml", "notify", "run/shmd.lock", "other/shmd.lock"] { unlink(directory + "/" + file) }
    for part in ["/run", "/other", ""] { rmdir(directory + part) }
  }

  /// A table name, removed with the corner.
  func tableName() -> String {
    let name = "shmd-test-\(getpid())-\(Self.counter.add(1, ordering: .relaxed).newValue)"
    tables.append(name)
    return name
  }

  var configurationFile: String { directory + "/shmd.yaml" }

  /// Writes the configuration: a short interval, and the given text below `tables:`.
  func configure(_ tables: String, interval: String = "20ms") throws {
    try write("interval: \(interval)\nlog-level: debug\ntables:\n\(tables)\n")
  }

  func write(_ text: String) throws {
    let descriptor = open(configurationFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw ChildProcess.Failure(description: "write: error \(errno)")
    }
  }

  /// Starts the daemon, with or without a service manager.
  func start(
    _ arguments: [String] = [], runtime: String = "run", environment: [String: String] = [:]
  ) throws -> ChildProcess {
    try ChildProcess(
      ChildProcess.product("shmd"),
      ["--config", configurationFile, "--runtime-directory", directory + "/" + runtime] + arguments,
      environment: environment)
  }

  /// Starts the daemon and waits until it is ready.
  func startReady(runtime: String = "run") throws -> ChildProcess {
    let daemon = try start(runtime: runtime)
    try daemon.waitForLine("ready tables=")
    return daemon
  }
}
