import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// The handle that a process has of a table by name.
@Suite struct SharedHandleTests {
  @Test func theSameHandleIsFoundUntilItIsForgotten() throws {
    try withTableName { (name: String) throws -> Void in
      defer { Table.forgetShared(name) }
      _ = try Table.create(name, Table.Options(capacityBytes: 1 << 20))
      let first = try Table.shared(name)
      #expect(try Table.shared(name) === first)
      Table.forgetShared(name)
      let second = try Table.shared(name)
      #expect(second !== first)
      try first.set("a", 1)
      #expect(try second.get("a", as: Int.self) == 1)
    }
  }

  @Test func aMissingTableIsNotRemembered() throws {
    try withTableName { (name: String) throws -> Void in
      defer { Table.forgetShared(name) }
      #expect(code { try Table.shared(name) } == .noSuchTable)
      _ = try Table.create(name, Table.Options(capacityBytes: 1 << 20))
      #expect(try Table.shared(name).count == 0)
    }
  }

  @Test func aTableThatIsMadeAnewIsOpenedAnew() throws {
    try withTableName { (name: String) throws -> Void in
      defer { Table.forgetShared(name) }
      for round in 1...3 {
        let made = try Table.create(name, Table.Options(capacityBytes: 1 << 20))
        try made.set("round", round)
        #expect(try Table.shared(name).get("round", as: Int.self) == round)
        try Table.drop(name)
        #expect(code { try Table.shared(name) } == .noSuchTable)
      }
    }
  }

  @Test func lookupsRunBesideChanges() throws {
    try withTableName { (name: String) throws -> Void in
      defer { Table.forgetShared(name) }
      _ = try Table.create(name, Table.Options(capacityBytes: 1 << 20))
      try Table.shared(name).set("a", 7)
      let wrong = Atomic(0)
      onThreads(4) { worker in
        for _ in 0..<2_000 {
          if worker == 0 { Table.forgetShared(name) }
          if (try? Table.shared(name).get("a", as: Int.self)) != 7 { wrong.add(1, ordering: .relaxed) }
        }
      }
      #expect(wrong.load(ordering: .relaxed) == 0)
    }
  }
}
