import SharedTable
import Testing

@Suite struct WatchTests {
  @Test func changesSinceAVersionAreToldOneALine() throws {
    let table = try TestTable()
    let handle = try table.open()
    let start = handle.version
    try handle.set("a", "one\ntwo")
    try handle.set("b", 7)
    try handle.remove("a")
    let version = handle.version
    let all = try table.run("watch", "--prefix", "", "--from", "\(start)", "--count", "3")
    // The value is the one of now: the first is gone.
    #expect(all.text == "\(version - 2) set a\n\(version - 1) set b 7\n\(version) removed a\n")
    #expect(try table.run("watch", "b", "--from", "\(start)", "--count", "1").text == "\(version - 1) set b 7\n")
    let json =
      try table.run("watch", "--prefix", "b", "--from", "\(start)", "--count", "1", "--json").objects.first ?? nil
    #expect(json?["event"] as? String == "set" && json?["value"] as? Int == 7 && json?["type"] as? String == "integer")
    #expect(json?["changeVersion"] as? UInt64 == version - 1)
    #expect(try table.run("watch", "a", "--from", "\(version + 1000)").status == 2)
  }

  @Test func aTerminalDoesNotObeyWhatWaitPrints() throws {
    let lines = #"""
      $ shmctl create escapes
      $ printf '\033[31mred' | shmctl set -t escapes k -
      $ shmctl wait -t escapes k
      \x1b[31mred
      """#
    try Transcript(lines.split(separator: "\n")).replay("wait")
  }

  @Test func whatTheLogHasLostIsTold() throws {
    let table = try TestTable()
    let handle = try table.open()
    let start = handle.version
    for round in 0..<40 { try handle.barrier { tx in for index in 0..<500 { try tx.set("key-\(index)", round) } } }
    let run = try table.run("watch", "--prefix", "", "--from", "\(start)", "--count", "1")
    #expect(run.text.hasPrefix("missed ") && run.text.hasSuffix(": more changed than the table's log keeps\n"))
    let json =
      try table.run("watch", "--prefix", "", "--from", "\(start)", "--count", "1", "--json").objects.first ?? nil
    #expect(json?["event"] as? String == "missed" && json?["count"] is Int)
  }

  @Test func aWatchSeesWhatComesAndEndsAtAValue() throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t "$T" watch state --until done --exec 'echo "$SHM_EVENT $SHM_KEY=$SHM_VALUE in $SHM_TABLE"' >"$O" & w=$!
        i=0; until [ -s "$O" ] || [ $i -gt 400 ]; do "$SHMCTL" -t "$T" set state busy; sleep 0.02; i=$((i + 1)); done
        "$SHMCTL" -t "$T" set state done; wait $w; echo $?; tail -n 1 "$O"; rm "$O"
        """#, environment: ["T": table.name, "O": "/tmp/\(table.name).watch"])
    #expect(run.text == "0\nset state=done in \(table.name)\n", "\(run.errors)")
    #expect(try table.run("watch", "state", "--until", "done").text == "")
  }

  /// The value came while the log was overwritten, and no later change tells of it.
  @Test func aWatchEndsAtAValueWhoseChangeWasLost() throws {
    let table = try TestTable()
    let script = #"""
      others() { seq 20000 | sed 's/.*/set other-& &/' | "$SHMCTL" -t "$T" batch -q; }
      timeout -s KILL 100 "$SHMCTL" -t "$T" watch $W --until done --exec 'echo >"$O"; until [ -e "$O.go" ]; do sleep 0.02; done' >/dev/null & w=$!
      i=0; until [ -e "$O" ] || [ $i -gt 400 ]; do "$SHMCTL" -t "$T" set state busy; sleep 0.02; i=$((i + 1)); done
      "$SHMCTL" -t "$T" set state done; others; touch "$O.go"; wait $w; echo $?; rm "$O" "$O.go"
      """#
    for what in ["state", "--prefix st"] {
      try table.open().set("state", "new")
      let run = try CommandRun(
        shell: script, environment: ["T": table.name, "O": "/tmp/\(table.name).watch", "W": what])
      #expect(run.text == "0\n", "\(what): \(run.errors)")
    }
  }

  /// Of a barrier whose changes are read in parts, the log has lost those behind the first part.
  @Test func aWatchEndsAtAValueThatWasLostInTheMiddleOfABarrier() throws {
    let table = try TestTable()
    let handle = try table.open()
    let start = handle.version
    try handle.barrier { tx in
      try tx.set("state-first", "new")
      for index in 0..<600 { try tx.set("other-\(index)", index) }
      try tx.set("state-last", "done")
    }
    let run = try CommandRun(
      shell: #"""
        timeout -s KILL 100 "$SHMCTL" -t "$T" watch --prefix state --from "$F" --until done \
          --exec 'echo "$SHM_EVENT" >>"$O"; until [ -e "$O.go" ]; do sleep 0.02; done' >/dev/null & w=$!
        i=0; until [ -e "$O" ] || [ $i -gt 400 ]; do sleep 0.02; i=$((i + 1)); done
        seq 20000 | sed 's/.*/set other-& &/' | "$SHMCTL" -t "$T" batch -q; touch "$O.go"; wait $w; echo $?; cat "$O"; rm "$O" "$O.go"
        """#, environment: ["T": table.name, "O": "/tmp/\(table.name).watch", "F": "\(start)"])
    #expect(run.text == "0\nset\nmissed\n", "\(run.errors)")
  }

  @Test func aFailingCommandEndsNoWatch() throws {
    let table = try TestTable()
    let start = try table.open().version
    for value in 1...2 { try table.open().set("k", value) }
    let run = try table.run("watch", "k", "--from", "\(start)", "--count", "2", "--exec", "exit 3")
    #expect(run.status == 0 && run.text.split(separator: "\n").count == 2)
    #expect(run.errors.contains("ended with status 3"))
  }

  @Test func waitEndsWhenTheKeyIsWhatWasAskedFor() throws {
    let table = try TestTable()
    let late = try table.run("wait", "k", "--timeout", "20ms")
    #expect(late.status == 7 && late.errors.contains("key 'k' is still not there"))
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t "$T" wait k --timeout 60s & a=$!
        "$SHMCTL" -t "$T" wait k --value 2 --timeout 60s >/dev/null & b=$!
        "$SHMCTL" -t "$T" set k 1; wait $a; "$SHMCTL" -t "$T" set k 2; wait $b && echo " then 2"
        """#, environment: ["T": table.name])
    #expect(run.text.hasSuffix(" then 2\n") && run.status == 0, "\(run.text)")
    // One that ends by itself is no commit.
    #expect(try table.run("set", "k", "2", "--ttl", "200ms").status == 0)
    #expect(try table.run("wait", "k", "--gone", "--timeout", "60s").status == 0)
    #expect(try table.run("wait", "k", "--value", "3", "--timeout", "20ms").status == 7)
    #expect(try table.run("wait", "k", "--value", "3", "--gone").status == 2)
  }

  @Test func whoGivesATimeWaitsNoLonger() throws {
    let table = try TestTable()
    for words in [
      ["watch", "k", "--until", "zzz"], ["watch", "k", "--count", "1"], ["watch", "--prefix", ""], ["log", "--follow"],
    ] {
      let run = try table.run(words + ["--timeout", "20ms"])
      #expect(run.status == 7 && run.errors.contains("the 20ms of --timeout are over"), "\(words): \(run.errors)")
    }
    let start = try table.open().version
    try table.open().set("k", "v")
    #expect(try table.run("watch", "k", "--from", "\(start)", "--count", "1", "--timeout", "60s").status == 0)
  }

  @Test func theCommandOfAWatchTakesNoInputFromOthers() throws {
    let table = try TestTable()
    let start = try table.open().version
    try table.open().set("k", "v")
    let run = try CommandRun(
      shell: #"""
        printf 'one\ntwo\n' | { read line; "$SHMCTL" -t "$T" watch k --from "$V" --count 1 --exec cat >/dev/null; cat; }
        """#, environment: ["T": table.name, "V": "\(start)"])
    #expect(run.text == "two\n", "\(run.errors)")
  }
}
