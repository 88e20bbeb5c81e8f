import Glibc
import SharedMemory
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// What the daemon advises about a table that it cannot have.
@Suite struct TroubleTests {
  private func advice(_ code: TableError.Code, isDurable: Bool) -> String {
    Trouble(TableError(code, table: "orders", "why"), isDurable: isDurable).message
  }

  /// `shmctl` takes no part in a table of a user whom nobody trusts, and drops none.
  @Test func aTableOfAnotherUserIsNamedWithWhomToTrust() {
    let error = TableError(.damaged, table: "orders", "why")
    for (owner, option) in [(UInt32(4711), " --trust 4711"), (0, ""), (nil, ""), (geteuid(), "")] {
      let said = Trouble(error, isDurable: false, owner: owner).message
      let advice = "remove it with 'shmctl drop\(option) orders'"
      #expect(said.contains(advice), "\(said)")
    }
  }

  /// Such a table could not be opened, and a repair would have to open it.
  @Test func aDamagedTableIsDropped() {
    let drop = "remove it with 'shmctl drop orders'"
    #expect(advice(.damaged, isDurable: true).hasSuffix("\(drop): it comes back from its store"))
    #expect(advice(.damaged, isDurable: false).hasSuffix(drop))
  }

  @Test(arguments: [TableError.Code.notATable, .incompatible])
  func aTableOfAnotherLayoutIsDumpedFirst(_ code: TableError.Code) {
    #expect(advice(code, isDurable: false).contains("dump it with the release that made it"))
    #expect(advice(code, isDurable: true).contains("it comes back from its store"))
  }

  /// Who followed the advice to drop it would take the table from under the process that makes it.
  @Test func aTableThatIsBeingMadeIsNotToBeDropped() throws {
    let name = uniqueTableName()
    let control = try SharedObject.create(name: "shmtable.\(name).ctl", mode: 0o600)
    defer { removeObjects(ofTable: name) }
    let message = Trouble(TableError(.exists, table: name, ""), isDurable: false).message
    #expect(message.contains("another process makes it just now") && !message.contains("shmctl drop"), "\(message)")
    withExtendedLifetime(control) {}
  }
}
