import Glibc
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// Sections that see to it that nobody writes what they look at.
@Suite(.enabled(if: Table.canCheckReads, "cannot run: needs a build that checks reads")) struct CheckedReadTests {
  /// Where a value lies in the mapping that this process writes through.
  private static func address(of key: String, _ table: Table) throws -> UnsafeMutableRawPointer {
    // By the engine's own section: of those of the API, what is checked may be every one.
    let section = try table.segment.beginRead(timeoutNanoseconds: 1_000_000_000)
    defer { table.segment.endRead(section) }
    let found = try Array(key.utf8).withUnsafeBytes { try table.segment.find($0, section, ExpiryClock()) }
    return UnsafeMutableRawPointer(mutating: try #require(found).value.baseAddress!)
  }

  @Test(arguments: Table.Variant.allCases) func aCheckedSectionSeesWhatAnyOtherDoes(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      for index in 0..<300 {
        try table.set("k\(index)", "v\(index)", expires: index % 2 == 0 ? .never : .after(.seconds(9)))
      }
      for handle in [table, try Table.open(table.name, access: .observer)] {
        let count = try handle.checkedRead { view in
          #expect(try view.get("k7") == "v7")
          #expect(try view.get("none", as: String.self) == nil)
          #expect(try view.bytes(forKey: "k8")?.withUnsafeBytes { [UInt8]($0) } == Array("v8".utf8))
          #expect(try view.entry(forKey: "k9")?.bytes == Array("v9".utf8))
          #expect(try view.keys(prefix: "k1").count == 111)
          var seen: Set<String> = []
          try view.forEach { key, entry in
            let value: String? = entry.value()
            seen.insert(try #require(value))
          }
          #expect(seen == Set((0..<300).map { "v\($0)" }))
          return try view.count()
        }
        #expect(count == 300)
        #expect(throws: Refusal(number: 1)) { try handle.checkedRead { _ in throw Refusal(number: 1) } }
      }
      // The section is over.
      try table.set("k7", "new")
      #expect(try table.checkedRead { view in try view.get("k7") } == "new")
    }
  }

  @Test func whatOthersWriteMeanwhileIsNoDamage() throws {
    try withTable(.rcu) { table throws in
      for index in 0..<50 { try table.set("k\(index)", "old") }
      let writer = try worker(table)
      try table.checkedRead { view throws in
        for index in 0..<50 { #expect(try view.get("k\(index)") == "old") }
        for index in 0..<50 {
          try writer.ask("set k\(index) new", expecting: "ok")
          if index % 3 == 0 { try writer.ask("remove k\(index)", expecting: "ok") }
        }
        try writer.ask("maintain", expecting: "ok")
        for index in 0..<50 { #expect(try view.get("k\(index)") == "old") }
      }
      #expect(try table.get("k1") == "new")
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWriteFromElsewhereIsFoundAndItsKeyNamed(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      for index in 0..<20 { try table.set("k\(index)", "value") }
      let byte = try Self.address(of: "k7", table)
      /// What the section says if a byte changes behind what `look` has seen.
      func outcome(_ look: (borrowing ReadView) throws -> Void) -> TableError? {
        defer { byte.storeBytes(of: UInt8(ascii: "v"), as: UInt8.self) }
        return error {
          try table.checkedRead { (view: borrowing ReadView) in
            try look(view)
            byte.storeBytes(of: UInt8(ascii: "V"), as: UInt8.self)
          }
        }
      }
      for damage in [
        outcome { view in _ = try view.bytes(forKey: "k7") },
        outcome { view in _ = try view.get("k7", as: String.self) },
        outcome { view in try view.forEach { _, _ in } },
      ] {
        #expect(damage?.code == .damaged)
        #expect(damage?.message.contains("'k7'") == true)
      }
      // What it had not looked at is not its business; and what `body` throws does not hide damage.
      #expect(outcome { view in _ = try view.bytes(forKey: "k8") } == nil)
      #expect(
        error {
          try table.checkedRead { (view: borrowing ReadView) in
            _ = try view.bytes(forKey: "k7")
            byte.storeBytes(of: UInt8(ascii: "V"), as: UInt8.self)
            throw Refusal()
          }
        }?.code == .damaged)
      byte.storeBytes(of: UInt8(ascii: "v"), as: UInt8.self)
      #expect(try table.checkedRead { view in try view.get("k7") } == "value")
    }
  }

  // MARK: - The read-only mapping

  @Test func aStrayStoreIsAFaultAtOnce() async throws {
    await #expect(processExitsWith: .signal(SIGSEGV)) { try Stray.store(checked: true) }
    // Without the check it succeeds, and nobody notices.
    await #expect(processExitsWith: .exitCode(17)) {
      unsetenv("SHAREDTABLE_CHECK_READS")
      try Stray.store(checked: false)
      exit(17)
    }
  }

  @Test func aPointerThatOutlivesItsSectionIsAFaultWhenUsed() async throws {
    await #expect(processExitsWith: .signal(SIGSEGV)) { try Stray.keep(checked: true) }
    await #expect(processExitsWith: .exitCode(17)) {
      unsetenv("SHAREDTABLE_CHECK_READS")
      try Stray.keep(checked: false)
      exit(17)
    }
  }

  @Test func theEnvironmentChecksEverySectionAlsoThoseOfAccessors() async throws {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      setenv("SHAREDTABLE_CHECK_READS", "1", 1)
      try Stray.store(checked: false)
    }
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      setenv("SHAREDTABLE_CHECK_READS", "1", 1)
      try Stray.decode()
    }
    await #expect(processExitsWith: .exitCode(17)) {
      unsetenv("SHAREDTABLE_CHECK_READS")
      try Stray.decode()
      exit(17)
    }
  }
}

/// What a program should not do.
private enum Stray {
  static func store(checked: Bool) throws {
    let table = try Table.temporary()
    try table.set("k", [UInt8](repeating: 1, count: 64))
    let body: (borrowing ReadView) throws -> Void = { view in
      try view.bytes(forKey: "k")!.withUnsafeBytes {
        UnsafeMutableRawPointer(mutating: $0.baseAddress!).storeBytes(of: 2, as: UInt8.self)
      }
    }
    if checked { try table.checkedRead(body) } else { try table.read(body) }
  }

  static func keep(checked: Bool) throws {
    let table = try Table.temporary()
    try table.set("k", [UInt8](repeating: 1, count: 64))
    let body: (borrowing ReadView) throws -> UnsafeRawPointer = { view in
      try view.bytes(forKey: "k")!.withUnsafeBytes { $0.baseAddress! }
    }
    let kept = checked ? try table.checkedRead(body) : try table.read(body)
    guard kept.load(as: UInt8.self) == 1 else { exit(18) }
    withExtendedLifetime(table) {}
  }

  static func decode() throws {
    let table = try Table.temporary()
    try table.set("k", [UInt8](repeating: 1, count: 64))
    _ = try Guarded("k", in: table, default: Scribbler()).accessor { _ in }.accessSync()
  }

  /// A value whose decoding stores into what it decodes.
  private struct Scribbler: TableValue {
    static var tableType: ValueType { .bytes }
    init() {}
    init?(tableBytes: UnsafeRawBufferPointer) {
      UnsafeMutableRawPointer(mutating: tableBytes.baseAddress!).storeBytes(of: 2, as: UInt8.self)
    }
    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}
