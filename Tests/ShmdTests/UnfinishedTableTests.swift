import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// Tables that a process began to make and did not finish.
@Suite struct UnfinishedTableTests {
  /// Puts what a creator that died at once leaves under a table's name, in the place of what is there.
  private func leaveUnfinished(_ name: String, _ fixture: DaemonFixture) throws {
    let made = "/dev/shm/shmtable.\(fixture.tableName()).ctl"
    let descriptor = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    try #require(rename(made, "/dev/shm/shmtable.\(name).ctl") == 0)
  }

  /// A daemon may end while it restores a table, and the next one must not wait for the dead one for ever.
  @Test(arguments: ["", ", preallocate: true"])
  func aTableThatADaemonDidNotFinishRestoringComesBack(_ options: String) throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let stores = fixture.directory + "/stores"
    defer { _ = try? WorkerProcess.run("/bin/rm", ["-r", stores], timeoutSeconds: 60) }
    try fixture.write(
      """
      interval: 20ms
      store-directory: \(stores)
      tables: [{name: \(name), capacity: 16MiB, durability: every-barrier\(options)}]
      """)
    let first = try fixture.startReady()
    let table = try Table.open(name)
    for begin in stride(from: 0, to: 20_000, by: 1000) {
      try table.barrier { tx in for index in begin..<(begin + 1000) { try tx.set("key \(index)", index) } }
    }
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0), "\(first.transcript)")

    var isUnfinished = false
    for _ in 0..<20 where !isUnfinished {
      removeObjects(ofTable: name)
      let killed = try fixture.start()
      #expect(eventually { access("/dev/shm/shmtable.\(name).data", F_OK) == 0 })
      killed.signal(SIGKILL)
      _ = try killed.wait()
      isUnfinished = UnfinishedTable.lies(under: name)
    }
    try #require(isUnfinished)

    let check = try fixture.check()
    #expect(try check.wait() == .code(0), "\(check.transcript)")
    #expect(check.transcript.contains("a process began to make it and did not finish"), "\(check.transcript)")
    let second = try fixture.startReady()
    #expect(second.transcript.contains("table restored from its store keys=20000"), "\(second.transcript)")
    #expect(try Table.open(name).get("key 19999", as: Int.self) == 19_999)
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0), "\(second.transcript)")
  }

  /// A creator that dies at the end leaves data that observers can open.
  @Test func aCheckTellsOfATableOfWhichOnlyTheDataIsFinished() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB}")
    _ = try Table.create(name, .init(capacityBytes: 2 << 20))
    try leaveUnfinished(name, fixture)
    let check = try fixture.check()
    #expect(try check.wait() == .code(0), "\(check.transcript)")
    #expect(check.transcript.contains("a process began to make it and did not finish"), "\(check.transcript)")
  }

  @Test func aTurnReplacesWhatWasNotFinished() throws {
    let fixture = try DaemonFixture()
    let (kept, blocked) = (fixture.tableName(), fixture.tableName())
    for object in [".ctl", ".data"] { try squat("shmtable.\(blocked)\(object)") }
    try fixture.configure("  - {name: \(kept), capacity: 2MiB}\n  - {name: \(blocked), capacity: 2MiB}")
    let daemon = try fixture.startReady()
    try leaveUnfinished(blocked, fixture)
    try daemon.waitForLine("table created capacity=2MiB table=\(blocked)")
    try leaveUnfinished(kept, fixture)
    try daemon.waitForLine("table created capacity=2MiB table=\(kept)")
    for name in [kept, blocked] { #expect(try Table.open(name, timeout: .seconds(60)).administration.isNamed) }
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }
}
