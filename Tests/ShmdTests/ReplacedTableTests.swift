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

  /// Its form is the daemon's own: nothing is to be dumped, and no other release would help.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to make another user's table"))
  func aTableWhoseRightsCannotBeChangedIsNotTakenForAnotherRelease() throws {
    let fixture = try DaemonFixture()
    let (name, spare) = (fixture.tableName(), fixture.tableName())
    try fixture.configure("  - {name: \(name), capacity: 2MiB, mode: \"0600\"}")
    let user = try fixture.giveAway()
    let daemon = try fixture.start(prelude: fixture.running(as: user))
    try daemon.waitForLine("ready tables=")
    _ = try Table.create(spare, Table.Options(capacityBytes: 2 << 20, mode: 0o660, group: user))
    for object in [".ctl", ".data"] {
      #expect(rename("/dev/shm/shmtable.\(spare)\(object)", "/dev/shm/shmtable.\(name)\(object)") == 0)
    }
    let line = try daemon.waitForLine("belongs to user 0, so its rights cannot be changed")
    #expect(line.contains("table in trouble problem=\"cannot be had as the file says: table '\(name)': "), "\(line)")
    #expect(!line.contains("dump it"), "\(line)")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }
}
