import Glibc
import SharedTable
import Testing

@testable import shmctl

/// What the shells' completions and the interactive mode ask. `scripts/shell-test.sh` runs it in bash, zsh and fish.
@Suite struct CompletionTests {
  private func answers(_ words: String..., environment: [String: String] = [:]) throws -> [String] {
    let run = try CommandRun(["complete", "--"] + words, environment: environment)
    #expect(run.status == 0 && run.errors.isEmpty)
    return run.text.split(separator: "\n").map(String.init)
  }

  @Test func commandsOptionsAndWordsAreCompleted() throws {
    #expect(try answers("coun") == ["count"])
    #expect(try answers("").contains("get"))
    #expect(try !answers("").contains("complete"))
    #expect(try answers("get", "--def") == ["--default"])
    #expect(try answers("create", "x", "--variant", "") == ["rcu", "rwlock"])
    #expect(try answers("create", "x", "--variant=rw") == ["--variant=rwlock"])
    #expect(try answers("set", "k", "5", "--type", "in") == ["integer"])
    #expect(try answers("export", "") == ["csv", "env", "resp"])
    #expect(try answers("plot", "l") == ["latency"])
    #expect(try answers("upstream", "") == ["diff", "status"])
    #expect(try answers("create", "x", "--stalled-reader", "") == ["evict", "refuse", "wait"])
    #expect(try answers("set", "k", "5", "--type", "") == ["bool", "bytes", "double", "integer", "json", "string"])
    #expect(try answers("help", "hel") == ["help"] && answers("hel") == ["help"])
    #expect(try answers("load", "") == [":files"])
    #expect(try answers("nonsense", "x", "").isEmpty)
    #expect(try answers("create", "x", "--group", "roo").contains("root"))
    #expect(try answers("get", "--trust", "every") == ["everyone"])
  }

  @Test func keysAndTablesAreCompleted() throws {
    let table = try TestTable()
    let handle = try table.open()
    for key in ["user:1", "user:2", "other", "user:\u{7}"] { try handle.set(key, "v") }
    try handle.set([0x75, 0xff] as [UInt8], "v")
    #expect(try answers("-t", table.name, "get", "user:") == ["user:1", "user:2"])
    #expect(try answers("get", "-t", table.name, "a", "o") == ["other"])
    #expect(try answers("get", "--table=\(table.name)", "o") == ["other"])
    #expect(try answers("get", "o", environment: ["SHM_TABLE": table.name]) == ["other"])
    #expect(try answers("-t", table.name, "set", "other", "o").isEmpty)
    #expect(try answers("-t", table.name, "get", "--", "-").isEmpty)
    #expect(try answers("drop", table.name).contains(table.name))
    #expect(try answers("get", "-t", table.name).contains(table.name))
    #expect(try answers("-t", table.name + "-none", "get", "").isEmpty)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to make another user's table"))
  func whoIsTrustedHoldsOfKeysToo() throws {
    let table = try TestTable()
    try table.open().set("other", "v")
    let owner = try #require(stranger)
    for path in [table.controlPath, table.dataPath] { #expect(unsafe chown(path, owner, owner) == 0) }
    #expect(try answers("-t", table.name, "get", "o").isEmpty)
    #expect(try answers("-t", table.name, "--trust", "\(owner)", "get", "o") == ["other"])
    #expect(try answers("-t", table.name, "get", "--trust=\(owner)", "o") == ["other"])
    // As the interactive mode hands it over.
    var options = CommonOptions(plain: ())
    options.table = RawArgument(bytes: Array(table.name.utf8))
    options.general.trust = [RawArgument(bytes: Array("\(owner)".utf8))]
    #expect(Completion(of: ["get", "o"], options).words == ["other"])
  }

  /// Also where few keys, or none, begin with what is typed.
  @Test func aLookForKeysIsBounded() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.barrier { tx in for number in 0..<1000 { try tx.set("k\(number)", "v") } }
    #expect(Completion.keys(from: "k", in: handle, lookingAt: 100).count == 100)
    let found = Completion.keys(from: "k1", in: handle, lookingAt: 100)
    #expect(found.count < 100 && found.allSatisfy { $0.hasPrefix("k1") })
    var met = 0
    try handle.read { view in
      try view.forEachKey(atMost: 100) { _ in
        met += 1; return true
      }
    }
    #expect(met == 100)
    try handle.read { view in
      try view.forEachKey(atMost: 100) { _ in
        met += 1; return met < 150
      }
    }
    #expect(met == 150)
  }

  @Test func noMoreKeysThanHelp() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.barrier { tx in for number in 0..<1000 { try tx.set("k\(number)", "v") } }
    #expect(try answers("-t", table.name, "get", "k").count == Completion.mostKeys)
  }

  /// A command that is new has a place here, or its arguments are completed with nothing.
  @Test func placesAreOfCommandsThatThereAre() {
    let names = Shmctl.configuration.subcommands.compactMap { $0.configuration.commandName }
    for name in ["get", "set", "drop", "load", "export", "plot"] { #expect(names.contains(name)) }
    #expect(CommandSyntax(of: "set").takesValue("--ttl") && !CommandSyntax(of: "set").takesValue("--persist"))
    #expect(CommandSyntax(of: "get").options.map(\.name).contains("-0"))
  }

  @Test(arguments: CompletionScript.allCases)
  func eachShellGetsItsScript(shell: CompletionScript) throws {
    let run = try CommandRun(["--generate-completion-script", shell.rawValue])
    #expect(run.status == 0 && run.text == shell.text && !run.text.hasPrefix("#!"))
    #expect(try CommandRun(["--generate-completion-script=\(shell.rawValue)"]).text == shell.text)
    for words in [["csh"], [], ["bash", "zsh"]] {
      #expect(try CommandRun(["--generate-completion-script"] + words).status == 2)
    }
    for words in [["=csh"], ["="], ["=bash", "zsh"]] {
      #expect(try CommandRun(["--generate-completion-script" + words[0]] + words.dropFirst()).status == 2)
    }
  }
}
