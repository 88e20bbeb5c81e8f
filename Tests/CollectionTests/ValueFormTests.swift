import FoundationEssentials
import SharedTableFoundation
import TableTestSupport
import Testing

@testable import SharedTable

enum Color: String, TableValue { case red, green }
enum Size: Int, TableValue { case small = 1, large = 2 }
enum Room: String, SharedKey { case hall, cellar }
enum Floor: Int, SharedKey { case ground, first }
struct Rights: OptionSet, TableValue { let rawValue: Int }
/// As a C struct for a cache line of its own.
struct Line: TableValue, Equatable {
  static var tableType: ValueType { .bytes }
  static var tableAlignmentShift: Int { 6 }
  init() {}
  init?(tableBytes: UnsafeRawBufferPointer) { if tableBytes.count != 64 { return nil } }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try [UInt8](repeating: 6, count: 64).withTableBytes(body)
  }
}

/// In which form values are stored, and that none is read as what it is not.
@Suite struct ValueFormTests {
  private func comesBack<T: TableValue & Equatable>(
    _ value: T, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let table = try Table.temporary()
    try table.set("k", value)
    #expect(try table.get("k", as: T.self) == .some(value), sourceLocation: location)
    let inBarrier = try table.barrier { tx in try tx.get("k", as: T.self) }
    #expect(inBarrier == .some(value), sourceLocation: location)
  }

  @Test func everyFormComesBackAsItWent() throws {
    try comesBack(Color.green)
    try comesBack(Size.large)
    try comesBack(Rights(rawValue: 5))
    try comesBack(Line())
    try comesBack(Int8.min)
    try comesBack(Int16.min)
    try comesBack(Int32.min)
    try comesBack(Int64.min)
    try comesBack(UInt8.max)
    try comesBack(UInt16.max)
    try comesBack(UInt32.max)
    try comesBack(UInt64.max)
    try comesBack(UInt.max)
    try comesBack(Float(0.1))
    try comesBack(Float.greatestFiniteMagnitude)
    try comesBack(-Float.infinity)
    try comesBack(UUID())
    try comesBack(Date())
    try comesBack(Date.distantFuture)
    try comesBack(Data([0, 1, 255]))
    try comesBack(Data())
    try comesBack(Coded(["a": [1, 2]]))
    let table = try Table.temporary()
    try table.set("nan", Float.nan)
    #expect(try table.get("nan", as: Float.self)?.isNaN == true)
  }

  /// Were optionals values, `get` would look for one here, and find a mismatch.
  @Test func whatIsAskedForIsNoOptionalWhateverTheContext() throws {
    let table = try Table.temporary()
    try table.set("k", "v")
    func found() throws -> String? { try table.get("k") ?? "nil" }
    #expect(try found() == "v")
  }

  @Test func aRawValueIsStoredAsItself() throws {
    let table = try Table.temporary()
    try table.set("color", Color.green)
    #expect(try table.get("color", as: String.self) == "green")
    try table.set("color", "blue")
    #expect(code { _ = try table.get("color", as: Color.self) } == .typeMismatch)
    try table.set("size", 1)
    #expect(try table.get("size", as: Size.self) == .small)
    #expect(code { _ = try table.get("size", as: Color.self) } == .typeMismatch)
  }

  @Test func integersOfAllWidthsShareTheirForm() throws {
    let table = try Table.temporary()
    try table.set("n", Int32(-5))
    #expect(try table.get("n", as: Int.self) == -5)
    #expect(try table.get("n", as: Int8.self) == -5)
    #expect(code { _ = try table.get("n", as: UInt8.self) } == .typeMismatch)
    try table.increment("n", by: 300)
    #expect(try table.get("n", as: UInt16.self) == 295)
    #expect(code { _ = try table.get("n", as: UInt8.self) } == .typeMismatch)
  }

  @Test func anUnsignedWordIsNoSignedOne() throws {
    let table = try Table.temporary()
    try table.set("n", UInt64.max)
    #expect(try table.get("n", as: UInt.self) == .max)
    #expect(code { _ = try table.get("n", as: Int.self) } == .typeMismatch)
    #expect(code { try table.increment("n") } == .typeMismatch)
  }

  /// Programs' own values may have a type of the library's, and another layout.
  @Test func whatHasANumbersTypeAndAnotherLayoutIsNotCountedOn() throws {
    struct Ticks: TableValue {
      static var tableType: ValueType { .integer }
      static var tableFingerprint: UInt64 { 7 }
      init() {}
      init?(tableBytes: UnsafeRawBufferPointer) {}
      func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try 5.withTableBytes(body)
      }
    }
    struct Digits: TableValue {
      static var tableType: ValueType { .string }
      static var tableFingerprint: UInt64 { 7 }
      init() {}
      init?(tableBytes: UnsafeRawBufferPointer) {}
      func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try "5".withTableBytes(body)
      }
    }
    let table = try Table.temporary()
    try table.set("ticks", Ticks())
    try table.set("digits", Digits())
    for key in ["ticks", "digits"] {
      #expect(code { try table.increment(key) } == .typeMismatch)
      #expect(code { try table.barrier { tx in _ = try tx.increment(key) } } == .typeMismatch)
    }
    #expect(try table.get("ticks", as: Ticks.self) != nil)
    #expect(try table.get("digits", as: Digits.self) != nil)
    try table.set("text", "5")
    #expect(try table.increment("text") == 6)
  }

  @Test func aDoubleThatIsNoFloatIsNotRounded() throws {
    let table = try Table.temporary()
    try table.set("x", 0.1)
    #expect(code { _ = try table.get("x", as: Float.self) } == .typeMismatch)
    try table.set("x", 0.5)
    #expect(try table.get("x", as: Float.self) == 0.5)
  }

  @Test func aDateIsNoNumberAndAUUIDIsText() throws {
    let table = try Table.temporary()
    try table.set("date", Date())
    #expect(code { _ = try table.get("date", as: Double.self) } == .typeMismatch)
    let id = UUID()
    try table.set("id", id)
    #expect(try table.get("id", as: String.self) == id.uuidString)
    try table.set("id", "no id")
    #expect(code { _ = try table.get("id", as: UUID.self) } == .typeMismatch)
    try table.set("data", Data([1, 2]))
    #expect(try table.get("data", as: [UInt8].self) == [1, 2])
  }

  @Test func codedValuesAreTheTablesCodableOnes() throws {
    let table = try Table.temporary()
    try table.set("a", Coded(["x": 1]))
    #expect(try table.get("a", codable: [String: Int].self) == ["x": 1])
    try table.set("b", codable: [3, 4])
    #expect(try table.get("b", as: Coded<[Int]>.self)?.value == [3, 4])
    #expect(code { _ = try table.get("b", as: Coded<[String]>.self) } == .typeMismatch)
  }

  private func comesBack<Key: SharedKey>(
    _ key: Key, as text: String, _ location: SourceLocation = #_sourceLocation
  ) {
    let bytes = key.withElementKey { Array($0) }
    #expect(String(decoding: bytes, as: UTF8.self) == text, sourceLocation: location)
    #expect(bytes.withUnsafeBytes { Key(keyBytes: $0) } == key, sourceLocation: location)
  }

  @Test func everyKeyComesBackAsItWent() throws {
    comesBack("grüß", as: "grüß")
    comesBack([65, 66] as [UInt8], as: "AB")
    comesBack(-42, as: "-42")
    comesBack(Int.min, as: "-9223372036854775808")
    comesBack(UInt64.max, as: "18446744073709551615")
    comesBack(UInt8(7), as: "7")
    comesBack(Room.cellar, as: "cellar")
    comesBack(Floor.first, as: "1")
    let id = UUID()
    comesBack(id, as: id.uuidString)
  }

  @Test func aKeyHasOneForm() throws {
    for text in ["+1", "01", "-0", "", " 1", "1 ", "128", "one"] {
      #expect(Array(text.utf8).withUnsafeBytes { Int8(keyBytes: $0) } == nil, "\(text)")
    }
    let id = Array(UUID().uuidString.lowercased().utf8)
    #expect(id.withUnsafeBytes { UUID(keyBytes: $0) } == nil)
    #expect([UInt8]([0xff]).withUnsafeBytes { String(keyBytes: $0) } == nil)
  }

  /// Swift takes both for equal, so what goes into one of its own collections becomes one.
  @Test func textsAreToldApartByTheirBytes() throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    #expect(composed == decomposed)
    let table = try Table.temporary()
    let ages = try SharedDictionary<String, Int>("ages", in: table)
    try ages.set(composed, 1)
    #expect(try ages[decomposed] == nil)
    try ages.merge([decomposed: 2])
    #expect(try ages.count == 2)
    #expect(try ages[composed] == 1 && ages[decomposed] == 2)
    #expect(try ages.values().sorted() == [1, 2])
    #expect(try ages.keys().map { Array($0.utf8).count }.sorted() == [2, 3])
    let all = try ages.allElements()
    #expect(all.count == 1 && [1, 2].contains(all[composed]))
    try ages.merge([(composed, 3), (decomposed, 4)])
    #expect(try ages[composed] == 4 && ages[decomposed] == 2, "the first key, the last value")

    let names = try SharedSet<String>("names", in: table)
    try names.insert(composed)
    #expect(try !names.contains(decomposed))
    #expect(try names.intersection([decomposed]).isEmpty)
    #expect(try names.insert(decomposed))
    #expect(try names.count == 2)
    #expect(try names.allElements().count == 1)
    #expect(try names.remove(decomposed))
    #expect(try names.contains(composed))
  }

  /// Stores, dumps and repairs take no larger one.
  @Test func aValueIsAlignedToNoMoreThanItsBlock() throws {
    let table = try Table.temporary()
    try table.set("key", Line())
    let shift = try table.withEntry("key") { found in found.meta.alignmentShift }
    #expect(shift == 4)
  }
}
