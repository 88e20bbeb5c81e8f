import Foundation
import SharedTable
import TableEngine
import Testing

/// `check` and `repair`: what they print, and what they end with.
@Suite struct RepairTests {
  @Test(arguments: Table.Variant.allCases)
  func aSoundTableIsLeftAlone(variant: Table.Variant) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    try table.open().set("k", "v")
    let version = try table.open().version
    for arguments in [["check", table.name], ["repair", table.name], ["repair", "--dry-run", table.name]] {
      let run = try CommandRun(arguments)
      #expect(run.status == 0 && run.output.isEmpty && run.errors == "", "\(arguments)")
    }
    let report = try CommandRun(["check", "--json", table.name])
    #expect(report.objects.first??["sound"] as? Bool == true)
    #expect(try table.open().version == version)
  }

  @Test(arguments: Table.Variant.allCases)
  func aTableMarkedDamagedIsSoundAgainWithAllItsKeys(variant: Table.Variant) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 4 << 20))
    let handle = try table.open()
    for index in 0..<500 { try handle.set("k\(index)", index) }
    try table.setControlWord(ControlLayout.damaged, 1)
    #expect(try table.run("set", "k0", "x").status == 9)

    let check = try CommandRun(["check", table.name])
    #expect(check.status == 9)
    #expect(check.text == "it is marked damaged\n")
    #expect(
      check.errors.hasPrefix("shmctl: table '\(table.name)': damaged, ") && check.errors.contains("; 'shmctl repair"))
    let look = try CommandRun(["repair", "--dry-run", table.name])
    #expect(look.status == 9 && look.output.isEmpty)
    #expect(look.errors.contains("would keep 500 keys"))
    #expect(try table.run("set", "k0", "x").status == 9)

    let repair = try CommandRun(["repair", table.name])
    #expect(repair.status == 0 && repair.errors == "")
    #expect(repair.text == "repaired: 500 keys kept, 0 given up\n")
    // A handle from before goes on.
    try handle.set("k0", 7)
    for index in 1..<500 { #expect(try handle.get("k\(index)", as: Int.self) == index) }
    #expect(try CommandRun(["check", table.name]).status == 0)
  }

  /// A repair of a stored table gives up keys in its store, too, where they may be whole.
  @Test func aDamagedTableThatIsStoredComesBackFromItsStore() throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<100 { try handle.set("k\(index)", index) }
    try handle.segment.setKeeping(.kept)
    try handle.segment.publishDurable(1)
    try handle.loseWords()
    let check = try CommandRun(["check", table.name])
    #expect(check.status == 9)
    let advice = "shmd stores it: 'shmctl drop \(table.name)' brings it back from its store"
    #expect(check.errors.contains(advice), "\(check.errors)")
    let look = try CommandRun(["repair", "--dry-run", table.name])
    #expect(look.errors.contains(advice), "\(look.errors)")
    #expect(look.errors.contains("a repair removes from the store, too, what it gives up"), "\(look.errors)")
  }

  @Test func whatIsGivenUpIsNamed() throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<100 { try handle.set("k\(index)", index) }
    try handle.loseWords()

    #expect(try CommandRun(["check", table.name]).status == 9)
    let run = try CommandRun(["repair", "--json", table.name])
    #expect(run.status == 0)
    let object = try #require(run.objects.first ?? nil)
    #expect(object["repaired"] as? Bool == true)
    #expect(object["kept"] as? Int == 99 && object["givenUp"] as? Int == 1)
    #expect((object["losses"] as? [String])?.count == 1)
    #expect(try handle.check() == [])
    #expect(handle.count == 99)
  }

  @Test func moreThanHalfIsGivenUpOnlyByForce() throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<200 { try handle.set("k\(index)", index) }
    // With another seed nothing is where it belongs.
    let seed = handle.segment.data.loadRelaxed(DataLayout.hashSeed)
    handle.segment.data.storeRelaxed(DataLayout.hashSeed, seed ^ 1)
    let run = try CommandRun(["repair", table.name])
    #expect(run.status == 9)
    let advice =
      "more than half of its keys, and was not told to; 'shmctl repair --dry-run \(table.name)' shows what, --force does it"
    #expect(run.errors.hasSuffix(advice + "\n"), "\(run.errors)")
    try handle.segment.setKeeping(.kept)
    try handle.segment.publishDurable(1)
    let stored = try CommandRun(["repair", table.name])
    #expect(stored.status == 9)
    #expect(
      stored.errors.contains(advice + "; shmd stores it: 'shmctl drop \(table.name)' brings it back"),
      "\(stored.errors)")
    handle.segment.data.storeRelaxed(DataLayout.hashSeed, seed)
    #expect(try handle.check() == [])
    #expect(handle.count == 200)
  }

  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func whoMayOnlyReadMayNotCheck() throws {
    let table = try TestTable(Table.Options(capacityBytes: 4 << 20, mode: 0o644))
    for command in ["check", "repair"] {
      let run = try CommandRun([command, table.name], user: stranger)
      #expect(run.status == 4 && run.output.isEmpty)
    }
  }

  @Test func aTableThatIsNotThereExits3() throws {
    let table = try TestTable(isMade: false)
    for command in ["check", "repair"] { #expect(try CommandRun([command, table.name]).status == 3) }
  }
}

extension TestTable {
  /// Overwrites a 64-bit word of the control object.
  func setControlWord(_ offset: Int, _ value: UInt64) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: controlPath))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: unsafe withUnsafeBytes(of: value) { unsafe Data($0) })
  }
}
