import Foundation
import Glibc
import SharedTable
import TestSupport
import Testing

@Suite struct ClientTests {
  private func worker(_ table: TestTable) throws -> WorkerProcess {
    let worker = try WorkerProcess("table-worker", timeoutSeconds: 100)
    try worker.ask("open \(table.name)", expecting: "ok")
    return worker
  }

  private func client(_ table: TestTable, _ pid: Int32) throws -> [String: Any]? {
    try table.run("clients", "--json").objects.first { $0?["pid"] as? Int32 == pid } ?? nil
  }

  @Test func aProcessIsNamedWithUserAndWhatItHolds() throws {
    let table = try TestTable()
    let worker = try worker(table)
    try worker.ask("barrier", expecting: "in")
    let text = try table.run("clients").text
    let line = try #require(text.split(separator: "\n").first { $0.contains(" table-worker ") })
    let user = unsafe String(cString: getpwuid(geteuid()).pointee.pw_name)
    #expect(line.split(separator: " ")[..<4] == ["\(worker.pid)", Substring(user), "table-worker", "1"])
    #expect(line.contains("in a barrier for "))
    let object = try #require(try client(table, worker.pid))
    let thread = try #require((object["threads"] as? [[String: Any]])?.first)
    #expect(thread["barrier"] as? Bool == true && thread["barrierMilliseconds"] is NSNumber)
    #expect(object["uid"] as? UInt32 == geteuid() && object["stopped"] as? Bool == false)
    try worker.ask("commit", expecting: "ok")
    #expect(try table.run("clients").text.contains("  idle\n"))
  }

  @Test func whoWaitsForTheBarrierIsSaid() throws {
    let table = try TestTable()
    let (holder, waiter) = (try worker(table), try worker(table))
    try holder.ask("barrier", expecting: "in")
    try waiter.send("set k v")
    let isSeen = try eventually {
      try (client(table, waiter.pid)?["threads"] as? [[String: Any]])?.first?["waitsFor"] as? String == "barrier"
    }
    #expect(isSeen)
    #expect(try table.run("clients").text.contains("waits for the barrier before it"))
    try holder.ask("commit", expecting: "ok")
    try waiter.expectLine("ok")
  }

  @Test func aReaderThatKeepsOldValuesIsStalled() throws {
    let table = try TestTable()
    let worker = try worker(table)
    let handle = try table.open()
    try handle.set("k", "v")
    _ = try worker.ask("snapshot")
    // A reclaiming process notes who is in its way at its second look.
    for value in 0..<50 { try handle.set("k", value) }
    try handle.administration.maintain()
    for value in 0..<50 { try handle.set("k", value) }
    try handle.administration.maintain()
    let isSeen = try eventually { try client(table, worker.pid)?["stalled"] as? Bool == true }
    #expect(isSeen)
    #expect(try table.run("clients").text.contains("  STALLED\n"))
  }

  @Test func aStoppedProcessIsMarked() throws {
    let table = try TestTable()
    let worker = try worker(table)
    try worker.ask("barrier", expecting: "in")
    worker.kill(SIGSTOP)
    defer { worker.kill(SIGCONT) }
    let isSeen = try eventually { try client(table, worker.pid)?["stopped"] as? Bool == true }
    #expect(isSeen)
    #expect(try table.run("clients").text.contains("  STOPPED\n"))
  }

  @Test func observersAreCounted() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    let observer = try Table.open(table.name, access: .observer)
    #expect(try table.run("clients").text == "observers: 1\n")
    withExtendedLifetime(observer) {}
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func observersMayNotLook() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    let run = try table.run("clients", user: stranger)
    #expect(run.status == 4 && run.errors.contains("observers cannot see who takes part"))
  }
}
