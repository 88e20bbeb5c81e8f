import Glibc
import SharedTable
import TableEngine
import Testing

@testable import shmctl

/// One grammar, names for what is refused, help for who mistypes.
@Suite struct HabitTests {
  @Test func aMistypedCommandIsNamedWithTheNearest() throws {
    for (word, near) in [("gte", "get"), ("exist", "exists"), ("rneame", "rename")] {
      let run = try CommandRun([word, "a", "b"])
      #expect(run.status == 2)
      #expect(run.errors == "shmctl: there is no command '\(word)'; did you mean '\(near)'? see 'shmctl --help'\n")
    }
    for (word, meant) in [("delete", "del"), ("keys", "ls"), ("info", "stat"), ("man", "help")] {
      #expect(try CommandRun([word]).errors.contains("did you mean '\(meant)'?"))
    }
    #expect(try CommandRun(["help", "get"]).text.hasPrefix("OVERVIEW: Print the values"))
    #expect(try CommandRun(["help", "--help"]).status == 0)
    let help = try CommandRun(["help", "frobnicate"])
    #expect(help.status == 2 && help.text.isEmpty && help.errors.contains("there is no command 'frobnicate'"))
    #expect(try CommandRun(["frobnicate"]).errors == "shmctl: there is no command 'frobnicate'; see 'shmctl --help'\n")
    #expect(try CommandRun(["-t", "x", "--timeout", "1s", "lss"]).errors.contains("did you mean 'ls'?"))
  }

  @Test func aMistypedKeyGetsTheNearestOnATerminal() throws {
    let table = try TestTable()
    try table.open().set("greeting", "hello")
    #expect(try table.run("get", "greetign").errors.contains("'shmctl ls -t \(table.name)' shows"))
    let run = try CommandRun(
      shell: #"script -qec "$SHMCTL -t $T get greetign" /dev/null </dev/null"#, environment: ["T": table.name])
    #expect(run.text.contains("no key 'greetign'; did you mean 'greeting'?"))
  }

  @Test func aValueThatWasReadAsAnOptionIsNamed() throws {
    for words in [["set", "k", "-verbose"], ["set", "k", "-x"], ["append", "k", "-x"], ["cas", "k", "a", "-b"]] {
      let run = try CommandRun(words)
      let hint =
        "'\(words.last!)' was read as an option; put '--' before what begins with '-'; see 'shmctl \(words[0]) --help'\n"
      #expect(run.status == 2 && run.errors.hasSuffix(hint), "\(run.errors)")
    }
    #expect(try !CommandRun(["set", "k", "--ttl", "5m"]).errors.contains("was read as"))
    let table = try TestTable()
    #expect(try table.run("set", "--", "k", "-verbose").status == 0)
    #expect(try table.run("get", "k").text == "-verbose")
  }

  @Test func aTablesNameWhereNoneIsExpectedGetsTheOption() throws {
    for command in ["stat", "clients", "dump"] {
      let run = try CommandRun([command, "settings"])
      #expect(run.status == 2 && run.errors.contains("'shmctl \(command) -t settings'"), "\(run.errors)")
    }
    #expect(try CommandRun(["tables", "settings"]).errors.contains("'shmctl stat -t settings'"))
  }

  @Test func theListOfKeysIsThatOfTheNamedTable() throws {
    let table = try TestTable()
    #expect(try CommandRun(["get", "-t", table.name, "k"]).errors.contains("'shmctl ls -t \(table.name)' shows"))
    let run = try CommandRun(["get", "k"], environment: ["SHM_TABLE": table.name])
    #expect(run.errors.contains("'shmctl ls' shows"), "\(run.errors)")
  }

  @Test(arguments: [("abc", "abc", 0), ("abc", "acb", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 1)])
  func distancesCountChanges(a: String, b: String, distance: Int) {
    #expect(Suggestion.distance(Array(a.utf8), Array(b.utf8)) == distance)
  }

  @Test func theTableOfACommandIsGivenByPositionOrByOption() throws {
    let table = try TestTable(isMade: false)
    #expect(try CommandRun(["create", "-t", table.name, "--capacity", "2MiB"]).status == 0)
    #expect(try CommandRun(["-t", table.name, "check"]).status == 0)
    #expect(try CommandRun(["check", table.name]).status == 0)
    #expect(try CommandRun(["repair", "--dry-run", "--table", table.name]).status == 0)
    let twice = try CommandRun(["drop", "-t", table.name, table.name])
    #expect(twice.status == 2 && twice.errors.contains("named twice; "))
    // Never a default one.
    let none = try CommandRun(["drop"], environment: ["SHM_TABLE": table.name])
    #expect(none.status == 2 && none.errors.contains("which table?"))
    #expect(none.errors.contains("$SHM_TABLE does not count here"))
    for command in ["create", "drop", "check", "repair"] {
      let help = try CommandRun([command, "--help"]).text
      #expect(help.contains("do not count here") && !help.contains("else $SHM_TABLE, else 'table'"), "\(command)")
    }
    #expect(table.exists)
    #expect(try CommandRun(["drop", "-t", table.name]).status == 0)
    #expect(!table.exists)
  }

  @Test func variantIsTheOptionsNameAndSyncItsFormerOne() throws {
    for option in ["--variant", "--sync"] {
      let table = try TestTable(isMade: false)
      #expect(try CommandRun(["create", table.name, option, "rwlock", "--capacity", "2MiB"]).status == 0)
      #expect(try table.open().variant == .rwlock)
    }
    let help = try CommandRun(["create", "--help"]).text
    #expect(help.contains("--variant") && !help.contains("--sync"))
    #expect(try CommandRun(["create", "x", "--sync", "rcu", "--variant", "rcu"]).status == 2)
  }

  @Test func theTimeoutComesFromTheEnvironment() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.barrier { _ in
      let run = try CommandRun(["-t", table.name, "set", "k", "v"], environment: ["SHM_TIMEOUT": "50ms"])
      #expect(run.status == 7, "\(run.errors)")
    }
    let wrong = try CommandRun(["-t", table.name, "set", "k", "v"], environment: ["SHM_TIMEOUT": "soon"])
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("$SHM_TIMEOUT is 'soon', which is no time; "))
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func whyItIsReadOnlyIsSaid() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    try table.open().set("k", "v")
    // The rights of the file.
    let rights = try table.run("set", "k", "w", user: stranger)
    #expect(rights.status == 4)
    #expect(rights.errors.contains("may only read the table: its rights do not let it write"), "\(rights.errors)")
    #expect(rights.errors.contains("ask them for the right"), "\(rights.errors)")
    // Another user's table, looked at by who trusts everyone.
    for path in [table.controlPath, table.dataPath] { #expect(unsafe chown(path, stranger ?? 0, 0) == 0) }
    let owner = try #require(stranger)
    let foreign = try table.run("set", "k", "w", "--trust", "everyone")
    #expect(foreign.status == 4)
    #expect(foreign.errors.contains("uid \(owner)") && foreign.errors.contains("--trust USER"), "\(foreign.errors)")
    // Trusted by option and by variable.
    #expect(try table.run("get", "k").status == 12)
    #expect(try table.run("set", "k", "w", "--trust", "\(owner)").status == 0)
    let trusting = try CommandRun(["-t", table.name, "set", "k", "x"], environment: ["SHM_TRUST": "0,\(owner)"])
    #expect(trusting.status == 0, "\(trusting.errors)")
    let unknown = try CommandRun(["-t", table.name, "get", "k"], environment: ["SHM_TRUST": "no-such-user"])
    #expect(unknown.status == 2)
    // Another PID namespace.
    let namespace = try CommandRun(
      shell: #"unshare --pid --fork "$SHMCTL" -t "$T" set k y"#,
      environment: ["T": table.name, "SHM_TRUST": "\(owner)"])
    #expect(namespace.status == 4)
    #expect(namespace.errors.contains("another PID namespace"), "\(namespace.errors)")
  }

  @Test func whyItIsReadOnlyForItsOwnMakerIsSaid() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    #expect(unsafe chmod(table.controlPath, 0o666) == 0)
    let open = try table.run("set", "k", "w")
    #expect(open.status == 4)
    #expect(open.errors.contains("its control object is writable by everybody; "), "\(open.errors)")
    #expect(unsafe chmod(table.controlPath, 0o600) == 0)
    // Made on another machine: what the fingerprint is of.
    try table.setControlWord(ControlLayout.fingerprint, 1)
    let foreign = try table.run("set", "k", "w")
    #expect(foreign.status == 4)
    #expect(foreign.errors.contains("another C library or on another machine; "), "\(foreign.errors)")
    #expect(try table.run("get", "k").text == "v")
  }

  @Test func onlyAnOptionThatIsNearIsSuggested() throws {
    let far = try CommandRun(["tables", "--foo"])
    #expect(far.status == 2 && far.errors == "shmctl: Unknown option '--foo'; see 'shmctl tables --help'\n")
    let near = try CommandRun(["tables", "--jsn"])
    #expect(
      near.status == 2 && near.errors.contains("Unknown option '--jsn'. Did you mean '--json'?"), "\(near.errors)")
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be a user without rights"))
  func whatIsAdvisedFitsWhatWasRefused() throws {
    let made = try TestTable(isMade: false)
    let group = try CommandRun(["create", made.name, "--group", "root", "--capacity", "2MiB"], user: stranger)
    #expect(group.status == 4 && !made.exists)
    #expect(group.errors.contains("a table to group 'root'; only its members and root can"), "\(group.errors)")
    #expect(!group.errors.contains("ask its owner") && !group.errors.contains("fchown"), "\(group.errors)")
    let table = try TestTable()
    let drop = try CommandRun(["drop", table.name], user: stranger)
    #expect(drop.status == 4 && table.exists)
    #expect(
      drop.errors.contains("; only its owner or root can drop it") && !drop.errors.contains("--mode 660"),
      "\(drop.errors)")
  }
}
