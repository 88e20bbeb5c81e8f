import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// Anybody may be the first to have a table's name. What a stranger put there is neither read nor taken for the table, and
/// said with its owner.
@Suite(.enabled(if: geteuid() == 0, "cannot run: needs root to make another user's objects"))
struct OwnershipTests {
  static let stranger: UInt32 = 65_533
  static let ways: [Table.Access] = [.participant, .observer, .automatic]

  /// What may be put under a name.
  enum Trap: CaseIterable {
    case emptyFile, text, zeros, directory, fifo, symbolicLink

    func make(_ object: String, leadingTo target: String) throws {
      let path = "/dev/shm/\(object)"
      switch self {
      case .emptyFile, .text, .zeros:
        let file = try SharedObject.create(name: object, mode: 0o666)
        try file.setMode(0o666)
        if self == .text { try file.truncate(to: 100) }
        if self == .zeros { try file.truncate(to: 10_000) }
      case .directory: #expect(mkdir(path, 0o777) == 0)
      case .fifo: #expect(mkfifo(path, 0o666) == 0)
      case .symbolicLink: #expect(symlink("/dev/shm/\(target)", path) == 0)
      }
      #expect(lchown(path, OwnershipTests.stranger, OwnershipTests.stranger) == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aStrangersTableIsUsedOnlyIfOneSaysSo(_ variant: Table.Variant) throws {
    try withTableName { (name: String) throws -> Void in
      let options = Table.Options(
        variant: variant, capacityBytes: 4 << 20, mode: 0o644, owner: Self.stranger)
      try Table.create(name, options).set("k", "v")
      for way in Self.ways { try expectForeign { try Table.open(name, access: way) } }
      try expectForeign { try Table.openOrCreate(name) }
      try expectForeign { try Table.create(name) }
      try expectForeign { try Table.open(name, trusting: [Self.stranger - 1]) }
      #expect(try Table.foreignOwner(of: name)?.id == Self.stranger)
      // Whoever it is, to observe; by number, to take part.
      for way in [Table.Access.automatic, .observer] {
        let observer = try Table.open(name, access: way, trusting: .everyone)
        #expect(try observer.isObserver && observer.get("k") == "v")
      }
      #expect(try Table.openOrCreate(name, trusting: .everyone).isObserver)
      try expectForeign { try Table.open(name, access: .participant, trusting: .everyone) }
      #expect(try !Table.open(name, access: .participant, trusting: [Self.stranger]).isObserver)
      #expect(try Table.foreignOwner(of: name, trusting: [Self.stranger]) == nil)
      try expectForeign { try Table.drop(name) }
      try Table.drop(name, trusting: [Self.stranger])
      #expect(code { try Table.open(name) } == .noSuchTable)
    }
  }

  @Test(arguments: Trap.allCases, [["data"], ["ctl"], ["data", "ctl"]])
  func whatAStrangerPutUnderANameIsSaidAndStays(_ trap: Trap, _ suffixes: [String]) throws {
    try withTable(.rcu) { own throws in
      try withTableName { (name: String) throws -> Void in
        let objects = suffixes.map { ("shmtable.\(name).\($0)", "shmtable.\(own.name).\($0)") }
        for (object, target) in objects { try trap.make(object, leadingTo: target) }
        defer { for (object, _) in objects { rmdir("/dev/shm/\(object)") } }
        for way in Self.ways { try expectForeign { try Table.open(name, access: way) } }
        try expectForeign { try Table.create(name) }
        try expectForeign { try Table.openOrCreate(name) }
        try expectForeign { try Table.drop(name) }
        #expect(try SharedObject.list(prefix: "shmtable.\(name).").count == suffixes.count)
        for (object, _) in objects { #expect(try SharedObject.look(at: object)?.owner == Self.stranger) }
        // Removed only where that is asked for.
        if trap == .directory {
          #expect(code { try Table.drop(name, trusting: .everyone) } == .notATable)
        } else {
          try Table.drop(name, trusting: .everyone)
          #expect(try SharedObject.list(prefix: "shmtable.\(name).").isEmpty)
        }
      }
      #expect(own.administration.isNamed)
    }
  }

  @Test(arguments: Trap.allCases, ["data", "ctl"])
  func anotherStrangerIsToldTheSame(_ trap: Trap, _ suffix: String) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("become 65534", expecting: "ok")
    for mode: mode_t in [0o666, 0o600] {
      try withTableName { (name: String) throws -> Void in
        let object = "shmtable.\(name).\(suffix)"
        try trap.make(object, leadingTo: "shmtable.nothing.\(suffix)")
        if trap != .symbolicLink { #expect(chmod("/dev/shm/\(object)", mode) == 0) }
        defer { rmdir("/dev/shm/\(object)") }
        for command in ["open \(name) observer", "open-automatically \(name)", "create-or-open \(name)"] {
          try worker.ask(command, expecting: "error foreign")
        }
        try worker.ask("open-or-create \(name) rcu", expecting: "error foreign")
        try worker.ask("drop \(name)", expecting: "error foreign")
        #expect(try SharedObject.list(prefix: "shmtable.\(name).") == [object])
      }
    }
  }

  /// A creator of ours died, and a stranger took the name of the data object that it had not made yet.
  @Test func aStrangersObjectBesideAnOwnLeftoverStays() throws {
    try withTableName { (name: String) throws -> Void in
      _ = try SharedObject.create(name: "shmtable.\(name).ctl", mode: 0o600)
      try Trap.text.make("shmtable.\(name).data", leadingTo: "")
      try expectForeign { try Table.create(name) }
      try expectForeign { try Table.openOrCreate(name) }
      try expectForeign { try Table.drop(name) }
      #expect(try SharedObject.look(at: "shmtable.\(name).data")?.size == 100)
      try SharedObject.unlink(name: "shmtable.\(name).data")
      try Table.create(name, .init(capacityBytes: 1 << 20)).set("k", 1)
    }
  }

  /// A creator that makes a table for another user has given away what it leaves when it dies then.
  @Test func aLeftoverOfWhomTheTableIsMadeForIsReplaced() throws {
    try withTableName { (name: String) throws -> Void in
      for object in ["data", "ctl"] {
        let leftover = try SharedObject.create(name: "shmtable.\(name).\(object)", mode: 0o600)
        try leftover.setOwner(Self.stranger)
      }
      try expectForeign { try Table.create(name) }
      let table = try Table.create(name, .init(capacityBytes: 1 << 20, owner: Self.stranger))
      #expect(try table.administration.rights().owner == Self.stranger)
    }
  }

  @Test func whoMayNotDropATableIsToldWhose() throws {
    try withTable(.rcu) { table throws in
      let stranger = try WorkerProcess("table-worker")
      try stranger.ask("become 65534", expecting: "ok")
      let answer = try stranger.ask("message drop \(table.name)")
      #expect(answer.contains("Permission denied (EACCES)"), "\(answer)")
      #expect(answer.contains("user 'root' (uid 0): ask them"), "\(answer)")
      #expect(table.administration.isNamed)
    }
  }

  @Test func anObjectUnderASecondNameIsNoTable() throws {
    try withTable(.rcu) { table throws in
      try withTableName { (name: String) throws -> Void in
        for suffix in ["data", "ctl"] {
          let path = "/dev/shm/shmtable.\(table.name).\(suffix)"
          #expect(link(path, "/dev/shm/shmtable.\(name).\(suffix)") == 0)
        }
        for way in Self.ways {
          let refusal = error { try Table.open(name, access: way) }
          #expect(refusal?.code == .notATable && refusal?.message.contains("under 2 names") == true)
        }
        try SharedObject.unlink(name: "shmtable.\(name).data")
        try SharedObject.unlink(name: "shmtable.\(name).ctl")
      }
      _ = try Table.open(table.name)
    }
  }

  private func expectForeign<R>(
    _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let thrown = error(body, sourceLocation: sourceLocation)
    let refusal = try #require(thrown, sourceLocation: sourceLocation)
    #expect(refusal.code == .foreign, "\(refusal)", sourceLocation: sourceLocation)
    #expect(refusal.owner?.id == Self.stranger, sourceLocation: sourceLocation)
    #expect(refusal.message.contains("uid \(Self.stranger)"), "\(refusal)", sourceLocation: sourceLocation)
    #expect(refusal.message.contains("trusting"), "\(refusal)", sourceLocation: sourceLocation)
  }
}
