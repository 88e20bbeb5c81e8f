import SharedTable
import TestSupport
import Testing

/// The programs in Examples/, as their users run them: in processes of their own.
@Suite struct ExampleTests {
  private func run(
    _ program: String, _ arguments: [String]
  ) throws -> (exit: WorkerProcess.Exit, output: String, errors: String) {
    let process = try WorkerProcess(program, arguments)
    process.closeInput()
    let output = try process.readToEnd()
    return (try process.wait(), output, process.standardError)
  }

  @Test func documentsAddedByOneProcessAreListedByAnother() throws {
    try withTableName { name in
      #expect(try run("document-manager", [name, "add", "minutes", "budget"]).exit == .code(0))
      #expect(try run("document-manager", [name, "add", "plan"]).exit == .code(0))
      let list = try run("document-manager", [name, "list"])
      #expect(list.exit == .code(0))
      #expect(list.output == "minutes\nbudget\nplan\n")
    }
  }

  @Test func anEmptyNameIsRefusedBeforeTheBarrier() throws {
    try withTableName { name in
      #expect(try run("document-manager", [name, "add", "minutes"]).exit == .code(0))
      let version = try Table.open(name).version
      let refused = try run("document-manager", [name, "add", ""])
      #expect(refused.exit == .code(1))
      #expect(refused.errors == "document-manager: a document needs a name\n")
      #expect(try Table.open(name).version == version)
      #expect(try run("document-manager", [name, "list"]).output == "minutes\n")
    }
  }

  @Test func thereIsOneManagerOnTheHost() throws {
    try withTableName { name in
      // All at once: one of them makes the table, one chooses the identity.
      let processes = try (0..<4).map { _ in try WorkerProcess("document-manager", [name, "identity"]) }
      let identities = try Set(processes.map { try $0.readLine() })
      #expect(identities.count == 1)
      for process in processes { #expect(try process.wait() == .code(0)) }
    }
  }

  @Test func documentsAddedAtTheSameTimeAreAllThere() throws {
    try withTableName { name in
      let processes = try (0..<4).map { process in
        try WorkerProcess("document-manager", [name, "add"] + (0..<25).map { "\(process)-\($0)" })
      }
      for process in processes { #expect(try process.wait() == .code(0)) }
      let names = try run("document-manager", [name, "list"]).output.split(separator: "\n").map(String.init)
      #expect(names.count == 100)
      for process in 0..<4 {
        #expect(names.filter { $0.hasPrefix("\(process)-") } == (0..<25).map { "\(process)-\($0)" })
      }
    }
  }

  @Test func aSessionBegunByTheWriterIsSeenWholeByEveryReader() throws {
    try withTableName { name in
      // Stay within the limit first: nothing is evicted, so nothing may be missing.
      let writer = try WorkerProcess("session-cache", [name, "write", "1000"])
      try writer.expectLine("begun 1000")
      #expect(try run("session-cache", [name, "user", "s0"]).output == "user0\n")
      #expect(try run("session-cache", [name, "user", "s999"]).output == "user999\n")
      let readers = try (0..<3).map { _ in try WorkerProcess("session-cache", [name, "read"]) }
      for reader in readers { try reader.expectLine("reading") }
      // Twice as many as it may keep, while the readers look: they end with a complaint if anything does not fit.
      let second = try WorkerProcess("session-cache", [name, "write", "2000"])
      try second.expectLine("begun 2000")
      for reader in readers {
        reader.closeInput()
        let words = try reader.readLine().split(separator: " ")
        #expect(words.count == 4 && words[0] == "hits" && Int(words[1])! > 0, "\(words)")
        #expect(try reader.wait() == .code(0))
      }
      for process in [writer, second] {
        process.closeInput()
        #expect(try process.wait() == .code(0))
      }
      #expect(try Table.open(name).read { view in try view.keys(prefix: "sessions/").count } <= 1000)
    }
  }

  @Test func aGuestIsSignedInOnceOnTheHost() throws {
    try withTableName { name in
      let processes = try (0..<4).map { _ in try WorkerProcess("session-cache", [name, "user", "s1"]) }
      for process in processes {
        try process.expectLine("guest")
        #expect(try process.wait() == .code(0))
      }
      let entry = try Table.open(name).entry(forKey: "sessions/s1")
      #expect(entry.map { String(decoding: $0.bytes, as: UTF8.self) } == "guest s1:guest")
      // An ID is whatever a client sends.
      for _ in 0..<2 { #expect(try run("session-cache", [name, "user", "a b"]).output == "guest\n") }
    }
  }

  @Test func aMistakeIsOneLineAndItsStatus() throws {
    for (program, arguments, status) in [
      ("document-manager", [], 2), ("session-cache", [], 2), ("document-manager", ["no/table", "list"], 1),
      ("session-cache", ["examples", "write", "many"], 2),
    ] as [(String, [String], Int32)] {
      let result = try run(program, arguments)
      #expect(result.exit == .code(status))
      #expect(result.output.isEmpty)
      #expect(result.errors.hasPrefix("\(program): ") && result.errors.split(separator: "\n").count == 1)
    }
  }
}
