import SharedTableFoundation
import Testing

@testable import SharedTable

/// What types there are, and that no value is read as what it is not.
@Suite struct ValueTests {
  struct Point: SharedStruct {
    static let schemaName = "example.point"
    var x: Double
    var y: Double
    var label: UInt8
  }

  /// The same schema name, other fields: a newer program's.
  struct WiderPoint: SharedStruct {
    static let schemaName = "example.point"
    var x: Double
    var y: Double
    var z: Double
  }

  struct Person: Codable, Equatable {
    var name: String
    var age: Int
  }

  @Test func everyTypeComesBackAsItWent() throws {
    let table = try Table.temporary()
    try table.set("bytes", [0, 1, 255] as [UInt8])
    try table.set("string", "grüß")
    try table.set("integer", -42)
    try table.set("double", 2.5)
    try table.set("bool", true)
    try table.set("point", Point(x: 1, y: 2, label: 3))
    try table.set("person", codable: Person(name: "Ada", age: 36))
    #expect(try table.get("bytes", as: [UInt8].self) == [0, 1, 255])
    #expect(try table.get("string", as: String.self) == "grüß")
    #expect(try table.get("integer", as: Int.self) == -42)
    #expect(try table.get("double", as: Double.self) == 2.5)
    #expect(try table.get("bool", as: Bool.self) == true)
    let point = try #require(try table.get("point", as: Point.self))
    #expect(point.x == 1 && point.y == 2 && point.label == 3)
    #expect(try table.get("person", codable: Person.self) == Person(name: "Ada", age: 36))
  }

  @Test func anotherTypeIsAnErrorThatNamesBoth() throws {
    let table = try Table.temporary()
    try table.set("a", "text")
    let error = #expect(throws: TableError.self) { try table.get("a", as: Int.self) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "the value of 'a' is of type string, not integer; read it as that type, or store it anew")
  }

  @Test func anOldLayoutUnderASchemaNameIsRefusedAndMigratesInOneBarrier() throws {
    let table = try Table.temporary()
    try table.set("p", Point(x: 1, y: 2, label: 3))
    let error = #expect(throws: TableError.self) { try table.get("p", as: WiderPoint.self) }
    #expect(error?.code == .typeMismatch)
    try table.barrier { tx in
      guard let old = try tx.get("p", as: Point.self) else { return }
      try tx.set("p", WiderPoint(x: old.x, y: old.y, z: 0))
    }
    #expect(try table.get("p", as: WiderPoint.self)?.y == 2)
  }

  @Test func aValueIsReadInPlaceWithoutACopy() throws {
    let table = try Table.temporary()
    try table.set("a", [1, 2, 3] as [UInt8])
    let sum = try table.read { view in
      guard let bytes = try view.bytes(forKey: "a") else { return -1 }
      return (0..<bytes.byteCount).reduce(0) { sum, index in
        unsafe sum + Int(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt8.self))
      }
    }
    #expect(sum == 6)
  }

  @Test func expiryIsJudgedByTheInjectedClock() throws {
    let clock = Clock()
    let table = try Table.temporary(clock: { clock.now })
    try table.set("short", 1, expires: .after(.seconds(10)))
    try table.set("long", 2, expires: .after(.seconds(100)))
    #expect(try table.get("short", as: Int.self) == 1)
    clock.advance(seconds: 10)
    #expect(try table.get("short", as: Int.self) == nil)
    #expect(try table.get("long", as: Int.self) == 2)
    #expect(table.count == 2)
    #expect(try table.administration.sweepExpired() == 1)
    #expect(table.count == 1)
  }
}

/// A clock that stands still until a test moves it.
final class Clock: @unchecked Sendable {
  // Sendable because only the test's own thread uses it.
  private(set) var now: UInt64 = 1_000_000_000_000
  func advance(seconds: UInt64) { now += seconds * 1_000_000_000 }
}
