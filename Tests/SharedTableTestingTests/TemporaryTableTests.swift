import Glibc
import SharedMemory
import SharedTable
import SharedTableTesting
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// A test's table: there while it runs, for other processes too, and gone afterwards.
@Suite struct TemporaryTableTests {
  @Test(.temporaryTable()) func anotherProcessOpensIt() throws {
    let table = try Table.ofTest
    let other = try worker(table)
    try other.ask("set greeting hello", expecting: "ok")
    #expect(try table.get("greeting") == "hello")
    try other.finish()
  }

  @Test(.temporaryTable("orders", .init(variant: .rwlock)), .temporaryTable("stock"))
  func aTestMayHaveSeveral() throws {
    let (orders, stock) = (try Table.ofTest("orders"), try Table.ofTest("stock"))
    #expect(orders.name != stock.name)
    #expect(orders.name.contains("orders"))
    #expect(orders.variant == .rwlock)
    #expect(stock.variant == .rcu)
    #expect(code { try Table.ofTest } == .noSuchTable)
  }

  @Test(.temporaryTable(), arguments: 1...4) func eachCaseHasItsOwn(_ number: Int) async throws {
    let table = try Table.ofTest
    #expect(table.count == 0)
    try await table.set("number", number)
    // And the tasks of the case have it.
    async let inTask = Table.ofTest.get("number", as: Int.self)
    #expect(try await inTask == number)
  }

  @Test func withoutTheTraitThereIsNone() {
    let error = error { try Table.ofTest }
    #expect(error?.code == .noSuchTable)
    #expect("\(error as Any)".contains(".temporaryTable()"))
  }

  @Test func itIsGoneWhenTheTestHasEndedOrThrown() async throws {
    struct Thrown: Error {}
    let name = Mutex("")
    await #expect(throws: Thrown.self) {
      try await Self.run {
        let own = try Table.ofTest.name
        name.withLock { $0 = own }
        throw Thrown()
      }
    }
    #expect(code { try Table.open(name.withLock { $0 }) } == .noSuchTable)
    try await Self.run {
      let own = try Table.ofTest.name
      name.withLock { $0 = own }
    }
    #expect(code { try Table.open(name.withLock { $0 }) } == .noSuchTable)
  }

  @Test func aTestMayDropItItself() async throws {
    try await Self.run { try Table.drop(Table.ofTest.name) }
  }

  @Test func whatCannotBeRemovedIsAnIssue() async throws {
    try await withKnownIssue {
      try await Self.run {
        let name = try Table.ofTest.name
        try Table.drop(name)
        try #require(mkdir("/dev/shm/shmtable.\(name).data", 0o700) == 0)
      }
    } matching: { issue in
      (issue.error as? TableError)?.code == .notATable
    }
    for object in try SharedObject.list(prefix: "shmtable.swift-testing") where object.contains(".\(getpid()).") {
      rmdir("/dev/shm/\(object)")
    }
  }

  /// As Swift Testing would run a test with the trait.
  private static func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let test = try #require(Test.current)
    try await TemporaryTable.temporaryTable().provideScope(for: test, testCase: nil, performing: body)
  }
}

@Suite(.temporaryTable()) struct SuiteOfTemporaryTableTests {
  @Test(arguments: 1...3) func eachTestOfASuiteHasItsOwn(_ number: Int) throws {
    #expect(try Table.ofTest.count == 0)
    try Table.ofTest.set("number", number)
  }
}
