import Foundation
import Glibc

/// One run of the real command, which lies beside the test binary: how it ended and what it wrote.
struct CommandRun {
  let status: Int32
  let output: [UInt8]
  let errors: String

  /// The output as text.
  var text: String { String(decoding: output, as: UTF8.self) }
  /// The output's lines as JSON objects; nil where one is not well-formed.
  var objects: [[String: Any]?] {
    text.split(separator: "\n").map { line in
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
  }

  struct Failure: Error { let what: String }

  static let path = FileManager.default.destinationOfOwnLink.deletingLastPathComponent()
    .appendingPathComponent("shmctl").path

  /// Runs `shmctl` to its end, with standard input closed unless `input` is given.
  ///
  /// Goes through files and not pipes: nothing to drain, and nobody else can hold an end open.
  @discardableResult
  init(
    _ arguments: [String], input: [UInt8]? = nil, environment: [String: String] = [:], user: UInt32? = nil
  ) throws {
    var command = [Self.path] + arguments
    if let user {
      command = ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + command
    }
    try self.init(command: command, input: input, environment: environment)
  }

  /// Runs a line of shell, in which `$SHMCTL` is the command.
  init(shell line: String, environment: [String: String] = [:]) throws {
    try self.init(
      command: ["/bin/sh", "-c", line], input: nil,
      environment: environment.merging(["SHMCTL": Self.path]) { $1 })
  }

  private init(command: [String], input: [UInt8]?, environment: [String: String]) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("shmctl-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no", "SHMCTL_CONFIG": "/dev/null"]) { $1 }.merging(environment) { $1 }
      .filter { $0.key != "SHM_TABLE" || environment["SHM_TABLE"] != nil }
    func file(_ name: String, _ contents: [UInt8] = []) throws -> FileHandle {
      let url = directory.appendingPathComponent(name)
      try Data(contents).write(to: url)
      return try FileHandle(forUpdating: url)
    }
    process.standardInput = try input.map { try file("input", $0) } ?? FileHandle.nullDevice
    process.standardOutput = try file("output")
    process.standardError = try file("errors")
    try process.run()
    // A hang is a failure. Only the process started here is ever signalled.
    let deadline = Date(timeIntervalSinceNow: 120)
    while process.isRunning, Date() < deadline { usleep(2000) }
    guard !process.isRunning else {
      kill(process.processIdentifier, SIGKILL)
      throw Failure(what: "still running after 120 s: \(command)")
    }
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    output = [UInt8](try Data(contentsOf: directory.appendingPathComponent("output")))
    errors = String(decoding: try Data(contentsOf: directory.appendingPathComponent("errors")), as: UTF8.self)
  }
}

extension FileManager {
  fileprivate var destinationOfOwnLink: URL {
    URL(fileURLWithPath: (try? destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/")
  }
}
