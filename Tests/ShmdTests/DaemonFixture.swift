import Glibc
import TestSupport

/// A private part of the host for one test: a directory, a configuration file, table names that nobody else uses.
/// Whatever the test leaves, ends with it.
final class DaemonFixture {
  let directory: String
  private var tables: [String] = []
  private var dropIns: [String] = []

  init() throws {
    var template = Array("/tmp/shmd-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("mkdtemp: error \(errno)") }
    directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for table in tables { removeObjects(ofTable: table) }
    for file in ["shmd.yaml", "notify", "run/shmd.lock", "run/http.sock"] + dropIns { unlink(directory + "/" + file) }
    for part in ["/run", "/shmd.d", ""] { rmdir(directory + part) }
  }

  /// A table name, removed with the fixture.
  func tableName() -> String {
    let name = uniqueTableName()
    tables.append(name)
    return name
  }

  var configurationFile: String { directory + "/shmd.yaml" }

  /// Writes the configuration: a short interval, and the given text below `tables:`.
  func configure(_ tables: String, interval: String = "20ms") throws {
    try write("interval: \(interval)\nlog-level: debug\ntables:\n\(tables)\n")
  }

  /// Writes a file beside the configuration that adds to it.
  func write(_ text: String, dropIn: String) throws {
    mkdir(directory + "/shmd.d", 0o755)
    dropIns.append("shmd.d/" + dropIn)
    try write(text, to: "\(directory)/shmd.d/\(dropIn)")
  }

  func write(_ text: String) throws { try write(text, to: configurationFile) }

  private func write(_ text: String, to file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Failure("write: error \(errno)")
    }
  }

  /// Lets every user read what is in it.
  func openToAll() throws {
    guard chmod(directory, 0o755) == 0 else { throw Failure("chmod: error \(errno)") }
  }

  /// Gives the directory to a user who is not root, if the test's own user is.
  /// - Returns: that user, or the test's own.
  func giveAway() throws -> UInt32 {
    guard geteuid() == 0 else { return geteuid() }
    let user: UInt32 = 54_322
    guard chown(directory, user, user) == 0 else { throw Failure("chown: error \(errno)") }
    return user
  }

  /// A prelude by which the daemon is another user's.
  func running(as user: UInt32) -> String {
    if user == geteuid() { return ":" }
    return "set -- --reuid=\(user) --regid=\(user) --clear-groups \"$0\" \"$@\"; BASH_ARGV0=/usr/bin/setpriv"
  }

  /// Checks the configuration, or another that is written first; as the tests' own user unless told otherwise.
  func check(as user: String = "root", _ tables: String? = nil) throws -> LoggingProcess {
    if let tables { try configure(tables) }
    return try start(["--check", "--user", user])
  }

  /// Starts the daemon, with or without a service manager.
  func start(
    _ arguments: [String] = [], environment: [String: String] = [:], prelude: String = ":"
  ) throws -> LoggingProcess {
    try LoggingProcess(
      ["--config", configurationFile, "--runtime-directory", directory + "/run"] + arguments,
      environment: environment, prelude: prelude)
  }

  /// Starts the daemon and waits until it is ready.
  func startReady() throws -> LoggingProcess {
    let daemon = try start()
    try daemon.waitForLine("ready tables=")
    return daemon
  }
}
