import Glibc
import SharedTable
import TestSupport
import Testing

/// Tables that another process made under a name that the daemon keeps.
@Suite struct ReplacedTableTests {
  /// Who makes it need not know what the file says.
  @Test func aTableThatSomeoneElseMadeAnewGetsTheRightsAndLimitsOfTheFile() throws {
    let fixture = try DaemonFixture()
    let (name, spare) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(name), capacity: 2MiB, mode: \"0640\", limbo-budget: 128KiB}")
    let daemon = try fixture.startReady()
    let other = try Table.create(spare, Table.Options(capacityBytes: 2 << 20))
    // Its two objects take the names of the daemon's: a round between the two finds objects that do not belong together.
    for object in [".ctl", ".data"] {
      #expect(rename("/dev/shm/shmtable.\(spare)\(object)", "/dev/shm/shmtable.\(name)\(object)") == 0)
    }
    try daemon.waitForLine("table was made anew by someone else, attached")
    #expect(eventually { (try? other.administration.rights().mode) == 0o640 })
    #expect(eventually { (try? other.administration.limits().limboBudgetBytes) == 128 << 10 })
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  /// As root may do it, by the README's line, before the daemon starts or while it runs: no other table is to suffer by it.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to make another user's table"), arguments: [false, true])
  func aTableWhoseRightsAreAnothersStaysAsItIs(isThereBefore: Bool) throws {
    let fixture = try DaemonFixture()
    let (name, other, spare) = (fixture.tableName(), fixture.tableName(), fixture.tableName())
    try fixture.configure(
      "  - {name: \(name), capacity: 2MiB, mode: \"0600\", limbo-budget: 128KiB}\n  - {name: \(other), capacity: 2MiB}")
    let user = try fixture.giveAway()
    let options = Table.Options(capacityBytes: 2 << 20, mode: 0o660, group: user)
    if isThereBefore { _ = try Table.create(name, options) }
    let daemon = try fixture.start(prelude: fixture.running(as: user))
    if !isThereBefore {
      try daemon.waitForLine("ready tables=")
      _ = try Table.create(spare, options)
      for object in [".ctl", ".data"] {
        #expect(rename("/dev/shm/shmtable.\(spare)\(object)", "/dev/shm/shmtable.\(name)\(object)") == 0)
      }
    }
    let line = try daemon.waitForLine(
      "belongs to user 0, so this daemon leaves its mode 0660, and the file says 0600; write into")
    if isThereBefore { try daemon.waitForLine("ready tables=") }
    #expect(!line.contains("shmctl drop"), "\(line)")
    let table = try Table.open(name)
    #expect(eventually { (try? table.administration.limits().limboBudgetBytes) == 128 << 10 })
    #expect(try table.administration.rights().mode == 0o660)
    #expect(try Table.open(other, trusting: .users([user])).capacityBytes == 2 << 20)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }
}
