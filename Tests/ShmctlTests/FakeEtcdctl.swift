import Foundation
import TestSupport
import ToolSupport

/// A program in place of etcdctl, which gives the answers that a test has laid down, one a call, and notes how it was called.
final class FakeEtcdctl: Sendable {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    let script = """
      #!/bin/sh
      cd '\(scratch.folder.path)'
      n=$(($(cat calls) + 1)); echo $n >calls
      for word; do printf '%s\\n' "$word"; done >words.$n
      echo "$ETCDCTL_API $ETCDCTL_WRITE_OUT $ETCDCTL_ENDPOINTS $ETCDCTL_COMMAND_TIMEOUT" >variables.$n
      if [ -e failure.$n ]; then cat failure.$n >&2; exit 1; fi
      cat answer.$n
      """
    try write("0\n", "calls")
    try write(script, "script")
    // Another process writes what is run: a child that another test starts meanwhile inherits, until it is executed, a file that this process
    // has open for writing, and such a file cannot be run (ETXTBSY).
    let copy = try WorkerProcess(
      "/usr/bin/install", ["-m", "755", scratch.file("script"), scratch.file("etcdctl")], timeoutSeconds: 60)
    try copy.finish()
  }

  private func write(_ text: String, _ name: String) throws {
    try text.write(toFile: scratch.file(name), atomically: false, encoding: .utf8)
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: scratch.file(name), encoding: .utf8) }

  /// What it answers to a call, counted from 1.
  func answer(_ call: Int, _ text: String) throws { try write(text + "\n", "answer.\(call)") }

  /// Keys and values as etcdctl writes them: what is empty is left out.
  func answer(
    _ call: Int, cluster: UInt64 = 10_000_000_000_000_000_001, revision: Int, more: Bool = false,
    _ pairs: [(String, String)]
  ) throws {
    let kvs = pairs.map { key, value in
      let value = value.isEmpty ? "" : #","value":"\#(JSONText.base64(Array(value.utf8)))""#
      return #"{"key":"\#(JSONText.base64(Array(key.utf8)))","create_revision":1,"version":1\#(value)}"#
    }
    let rest = (kvs.isEmpty ? "" : #","kvs":[\#(kvs.joined(separator: ","))]"#) + (more ? #","more":true"# : "")
    try answer(call, #"{"header":{"cluster_id":\#(cluster),"revision":\#(revision),"raft_term":2}\#(rest)}"#)
  }

  func fail(_ call: Int, _ complaint: String) throws { try write(complaint + "\n", "failure.\(call)") }

  var calls: Int { get throws { Int(try text("calls").dropLast())! } }
  func words(_ call: Int) throws -> [String] { try text("words.\(call)").split(separator: "\n").map(String.init) }
  func variables(_ call: Int) throws -> String { String(try text("variables.\(call)").dropLast()) }

  private func path(_ environment: [String: String]) -> [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return ["PATH": "\(scratch.folder.path):\(path)"].merging(environment) { $1 }
  }

  /// Runs a command that finds it.
  func run(_ arguments: [String], environment: [String: String] = [:]) throws -> CommandRun {
    try CommandRun(arguments, environment: path(environment))
  }

  /// Starts a command that finds it.
  func start(_ arguments: [String]) throws -> WorkerProcess {
    try WorkerProcess(CommandRun.path, arguments, environment: path([:]), timeoutSeconds: 100)
  }
}
