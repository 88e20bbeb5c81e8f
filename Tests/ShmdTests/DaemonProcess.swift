import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// A program whose log lines a test waits for. Tests wait for lines, never for time.
final class LoggingProcess {
  /// How long the process may live. A line that never comes is then a failure, before it delays all other tests.
  private static let patienceSeconds = 180

  private let worker: WorkerProcess
  /// What was written so far.
  private(set) var lines: [String] = []
  /// How far `waitForLine` has looked.
  private var lookedAt = 0

  var pid: Int32 { worker.pid }

  /// - Parameter prelude: shell commands to run first, in the same process.
  init(_ arguments: [String], environment: [String: String] = [:], prelude: String = ":") throws {
    let program = WorkerProcess.productDirectory + "/shmd"
    worker = try WorkerProcess(
      "/bin/bash", ["-c", "\(prelude); exec \"$0\" \"$@\" 2>&1", program] + arguments, environment: environment,
      timeoutSeconds: Self.patienceSeconds)
  }

  func signal(_ number: Int32) { worker.kill(number) }

  /// Waits for a line, behind those that earlier waits found, that contains `text`.
  @discardableResult
  func waitForLine(_ text: String) throws -> String {
    while true {
      while lookedAt < lines.count {
        lookedAt += 1
        if lines[lookedAt - 1].contains(text) { return lines[lookedAt - 1] }
      }
      do {
        lines.append(try worker.readLine())
      } catch {
        throw Failure("waiting for '\(text)': \(error), after:\n\(transcript)")
      }
    }
  }

  /// Waits for a line that contains `text`, unless there has been one, behind whichever.
  func waitUntilSaid(_ text: String) throws { if !transcript.contains(text) { try waitForLine(text) } }

  /// Waits for the end, with all that was written until then.
  func wait() throws -> WorkerProcess.Exit {
    lines += try worker.readToEnd().split(separator: "\n").map(String.init)
    return try worker.wait()
  }

  var transcript: String { lines.joined(separator: "\n") }
}

/// A wait that came to nothing.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Plays the service manager: the socket that `NOTIFY_SOCKET` names.
final class NotifySocket {
  let address: String
  /// How long a wait may take before it is a failure: far more than any needs.
  private let patienceMilliseconds: Int32 = 60_000
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
    guard bound == 0 else { throw Failure("bind \(address): error \(errno)") }
  }

  deinit { close(descriptor) }

  /// Waits for a message with this line and returns the whole message.
  @discardableResult
  func waitFor(_ line: String) throws -> String { try wait(for: "'\(line)'") { $0 == line } }

  /// The same for a line of which a part is known.
  @discardableResult
  func waitForLine(containing text: String) throws -> String { try wait(for: text) { $0.contains(text) } }

  /// Whether a message with this line has come, for who must not block.
  func hasCome(_ line: String) -> Bool {
    while let message = receive() { messages.append(message) }
    return messages.contains { $0.split(separator: "\n").contains { $0 == line } }
  }

  private func wait(for what: String, _ isWanted: (Substring) -> Bool) throws -> String {
    while true {
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, patienceMilliseconds) > 0, let message = receive() else {
        throw Failure("no \(what) among \(messages)")
      }
      messages.append(message)
      if message.split(separator: "\n").contains(where: isWanted) { return message }
    }
  }

  /// The next message; nil if there is none yet.
  private func receive() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }
}

/// Puts something that is no table under a name in /dev/shm.
func squat(_ object: String, owner: UInt32? = nil) throws {
  let squatter = try SharedObject.create(name: object, mode: 0o600)
  try squatter.setOwner(owner)
  try squatter.truncate(to: 8192)
  let mapping = try squatter.map(count: 8192, writable: true)
  withExtendedLifetime(mapping) { mapping.base.storeBytes(of: 0x1234, as: UInt64.self) }
}
