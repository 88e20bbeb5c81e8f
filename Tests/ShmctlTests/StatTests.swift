import Foundation
import Glibc
import SharedTable
import TestSupport
import Testing

@Suite struct StatTests {
  @Test func eachTermIsExplained() throws {
    let table = try TestTable()
    let opened = try table.open()
    try opened.set("k", "v")
    // Whoever has the table open is a line of `readers`. If this process let it go here, a fork in another test could keep it open for
    // the first look, and no longer for the second.
    let (plain, explained) = try withExtendedLifetime(opened) {
      (
        try table.run("stat").text.split(separator: "\n"),
        try table.run("stat", "--explain").text.split(separator: "\n")
      )
    }
    // Below each named figure, and what continues it, comes one line about it.
    let terms = plain.filter { !$0.hasPrefix(" ") }
    #expect(explained.count == plain.count + terms.count, "\(plain)\n\(explained)")
    for (index, line) in explained.enumerated() where !line.hasPrefix(" ") {
      let about = explained[(index + 1)...].first { $0.hasPrefix("              ") }
      #expect((about?.count ?? 0) > 40, "\(line)")
    }
  }

  @Test func namesOfTheSchemaStay() throws {
    let table = try TestTable()
    let object = try #require(try table.run("stat", "--json").objects.first ?? nil)
    #expect(
      object.keys.sorted() == [
        "access", "barrierWaits", "barriersUnwaited", "capacityBytes", "claimedBytes", "damaged", "evictions",
        "freeFrameBytes", "freeSlabBytes", "freeSuperframeBytes", "freeUnclaimedBytes", "hugeBytes", "keys",
        "limboBudgetBytes", "limboBytes", "needsRecovery", "observers", "probeID", "readers", "recoveries", "table",
        "usedBytes", "variant",
        "version", "writer",
      ])
  }

  @Test func aKilledWriterIsNotShownAsTheLivingOne() throws {
    let table = try TestTable()
    let worker = try WorkerProcess("table-worker", timeoutSeconds: 100)
    try worker.ask("open \(table.name)", expecting: "ok")
    try worker.ask("barrier", expecting: "in")
    try worker.ask("set k v", expecting: "ok")
    #expect(try table.run("stat").text.contains("\nwriter      table-worker (pid \(worker.pid), "))
    try worker.killAndWait()
    let run = try table.run("stat")
    #expect(run.text.contains("\nwriter      died in a barrier: "))
    #expect(!run.text.contains("pid \(worker.pid)"))
    let object = try table.run("stat", "--json").objects.first ?? nil
    #expect(object?["writer"] is NSNull && object?["needsRecovery"] as? Bool == true)
    #expect(try table.run("set", "k", "w").status == 0)
    #expect(try table.run("stat").text.contains("\nwriter      none\n"))
    #expect(try table.run("stat", "--json").objects.first??["needsRecovery"] as? Bool == false)
  }

  @Test func watchLooksAgainUntilNobodyReads() throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #""$SHMCTL" -t \#(table.name) stat --watch 10ms --json | head -n 3"#)
    try #require(run.objects.count == 3)
    #expect(run.objects.allSatisfy { $0?["table"] as? String == table.name })
    #expect(run.objects[0]?["commitsPerSecond"] == nil && run.objects[2]?["commitsPerSecond"] as? Int == 0)
  }

  @Test func watchEndsWithTheTable() throws {
    let table = try TestTable()
    let run = try CommandRun(
      shell: #"""
        "$SHMCTL" -t \#(table.name) stat --watch 10ms | { read -r line; "$SHMCTL" drop \#(table.name); cat >/dev/null; }
        "$SHMCTL" -t \#(table.name) stat --watch 10ms
        """#)
    #expect(run.status == 3)
    #expect(run.errors.contains("it was removed or replaced"))
  }

  @Test func prometheusTextNamesTheTable() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let run = try table.run("stat", "--prometheus")
    #expect(run.status == 0)
    #expect(run.text.contains("\nsharedtable_keys{table=\"\(table.name)\"} 1\n"))
    #expect(run.text.hasPrefix("# HELP ") && run.text.hasSuffix("\n"))
  }

  @Test(arguments: [["--prometheus", "--json"], ["--explain", "--json"], ["--watch", "0"], ["--watch", "soon"]])
  func whatExcludesEachOtherIsAUsageError(options: [String]) throws {
    let run = try CommandRun(["stat"] + options)
    #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1)
  }
}
