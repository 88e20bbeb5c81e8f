import Glibc
import SharedTable
import TestSupport
import Testing

@Suite struct SectionTests {
  @Test(arguments: ["read", "barrier"], [Table.Variant.rcu, .rwlock])
  func theCommandsStatusIsPassedOn(section: String, variant: Table.Variant) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    let run = try table.run(section, "--", "sh", "-c", "echo \"$SHM_TABLE\"; exit 42")
    #expect(run.status == 42 && run.text == table.name + "\n")
    #expect(try table.run(section, "--", "sh", "-c", "kill -TERM $$").status == 128 + 15)
    #expect(try table.run(section, "--", "true").status == 0)
    let none = try table.run(section, "--", "no-such-command-here")
    #expect(none.status == 127 && none.errors.contains("cannot run 'no-such-command-here'"))
    #expect(try table.run(section, "--", "/dev/null").status == 126)
    #expect(try table.run(section).status == 2)
    #expect(try table.run("set", "after", "1").status == 0)
  }

  @Test(arguments: [["barrier"], ["barrier", "--keys", "other,k"], ["barrier", "--key", "k"]])
  func theCommandReadsAndItsWritesNameTheHolder(section: [String]) throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t "$T" $S -- sh -c '"$SHMCTL" get k; echo; "$SHMCTL" set k w --timeout 50ms; echo $?'
        """#, environment: ["T": table.name, "S": section.joined(separator: " ")])
    #expect(run.text == "v\n7\n")
    #expect(run.errors.contains("held by shmctl, pid "))
    #expect(run.errors.contains("; this command runs inside that section: "), "\(run.errors)")
    #expect(try table.open().get("k", as: String.self) == "v")
  }

  @Test func aBarrierOfKeysLeavesOthersAlone() throws {
    let table = try TestTable()
    let run = try table.run("barrier", "--keys", "a,b", "--", CommandRun.path, "set", "c", "1")
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(try table.open().get("c", as: String.self) == "1")
  }

  /// As of a variable that is empty: not the whole table instead.
  @Test(arguments: [["--keys", ""], ["--keys", ","], ["--keys="], ["--keys", "a", "--keys", ""], ["--key", ""]])
  func noKeyWhereOneIsToBeHeldIsRefused(keys: [String]) throws {
    let table = try TestTable()
    let run = try table.run(["barrier"] + keys + ["--", "echo", "alone"])
    #expect(run.status == 2 && run.text.isEmpty && run.errors.contains("key"), "\(run.status) \(run.errors)")
  }

  @Test func aReadHoldsUpWritersOnlyInTheRWLockVariant() throws {
    for variant in [Table.Variant.rcu, .rwlock] {
      let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
      let run = try table.run("read", "--", CommandRun.path, "set", "k", "1", "--timeout", "50ms")
      #expect(run.status == (variant == .rcu ? 0 : 7))
      #expect(try table.run("read", "--", CommandRun.path, "count").text == (variant == .rcu ? "1\n" : "0\n"))
    }
  }

  /// The command lasts longer than the versions that writers may keep for it.
  @Test func writersOfAnRCUTableGoOnBesideAReadHoweverMuchTheyWrite() throws {
    let table = try TestTable(Table.Options(capacityBytes: 1 << 20))
    let handle = try table.open()
    let read = try WorkerProcess(
      CommandRun.path, ["-t", table.name, "read", "--", "sh", "-c", "echo begun; read line; exit 5"],
      timeoutSeconds: 100)
    #expect(try read.readLine() == "begun")
    let value = [UInt8](repeating: 0x78, count: 50_000)
    for _ in 0..<100 { try handle.set("k", value) }
    try read.send("end")
    #expect(try read.wait() == .code(5))
  }

  @Test func aKilledHolderFreesTheTable() throws {
    let table = try TestTable()
    try table.open().set("k", 1)
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t "$T" barrier -- sh -c 'kill -KILL $PPID; exec "$SHMCTL" incr k' | cat
        """#, environment: ["T": table.name])
    #expect(run.text == "2\n")
  }

  @Test(arguments: ["read", "barrier"])
  func theCommandsEndIsSeenWhereTheParentIgnoresIt(section: String) throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"""
        env --ignore-signal=CHLD grep -c 'SigIgn:.*[13579bdf]....$' /proc/self/status
        timeout 30 env --ignore-signal=CHLD "$SHMCTL" -t "$T" $S -- sh -c 'sleep 0.1; exit 9'
        echo $?
        """#, environment: ["T": table.name, "S": section])
    // The first line: what env starts does ignore it, the 17th signal.
    #expect(run.text == "1\n9\n", "\(run.errors)")
  }

  @Test(arguments: ["read", "barrier"], [SIGINT, SIGTERM, SIGHUP])
  func aSignalEndsTheWaitForTheTable(section: String, signal: Int32) throws {
    let table = try TestTable(Table.Options(variant: .rwlock, capacityBytes: 4 << 20))
    try table.open().barrier { _ in
      let words = ["-t", table.name, "--timeout", "20s", section, "--", "echo", "started"]
      let waiting = try WorkerProcess(CommandRun.path, words, timeoutSeconds: 100)
      try waiting.waitUntilAsleep(in: .futex)
      waiting.kill(signal)
      #expect(try waiting.readToEnd() == "" && waiting.wait() == .signal(signal))
    }
  }

  @Test func aSignalThatWasIgnoredDoesNotEndTheWait() throws {
    let table = try TestTable()
    let waiting = try table.open().barrier { _ in
      let words = ["-t", table.name, "--timeout", "60s", "barrier", "--", "echo", "started"]
      let waiting = try WorkerProcess(
        "/usr/bin/env", ["--ignore-signal=HUP", CommandRun.path] + words, timeoutSeconds: 100)
      try waiting.waitUntilAsleep(in: .futex)
      waiting.kill(SIGHUP)
      return waiting
    }
    #expect(try waiting.readToEnd() == "started\n" && waiting.wait() == .code(0))
  }

  @Test(arguments: ["INT", "TERM", "HUP"])
  func aSignalEndsTheCommandAndThenTheSection(signal: String) throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t "$T" barrier -- sh -c 'trap "echo ended; exit 9" INT TERM HUP; kill -$G $PPID; while :; do sleep 0.01; done'
        echo $?; "$SHMCTL" -t "$T" set after 1 --timeout 50ms && echo free
        """#, environment: ["T": table.name, "G": signal])
    #expect(run.text == "ended\n9\nfree\n", "\(run.errors)")
  }
}
