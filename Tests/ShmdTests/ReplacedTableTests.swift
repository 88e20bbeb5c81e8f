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
}
