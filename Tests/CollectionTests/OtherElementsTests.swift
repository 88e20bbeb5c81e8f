import SharedTableFoundation
import TableTestSupport
import Testing

@testable import SharedTable

/// Types that share a form share collections. What another program stored, and is no element here, is no damage.
@Suite struct OtherElementsTests {
  /// A later release's.
  enum Room: String, SharedKey, TableValue, CaseIterable { case hall, cellar, attic }
  enum EarlierRoom: String, SharedKey, TableValue { case hall, cellar }
  struct Account: SharedCodable { var name: String }
  struct LaterAccount: SharedCodable { var names: [String] }

  private func isMismatch<R>(
    naming words: [String], _ location: SourceLocation = #_sourceLocation, _ body: () throws -> R
  ) {
    let refusal = error(body, sourceLocation: location)
    #expect(refusal?.code == .typeMismatch, sourceLocation: location)
    let text = refusal?.description ?? ""
    for word in words { #expect(text.contains(word), "\(word): \(text)", sourceLocation: location) }
    #expect(!text.contains("remove the keys"), sourceLocation: location)
  }

  @Test(arguments: Table.Variant.allCases) func anElementOfAnArrayThatIsNoneHereIsATypeMismatch(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let wide = try SharedArray<Int>("a", in: table, limits: smallNodes)
      try wide.append(contentsOf: (0..<40).map { $0 == 3 || $0 == 39 ? 300 : $0 })
      let narrow = try SharedArray<Int8>("a", in: table, limits: smallNodes)
      for index in [3, 39] {
        let words = ["'a'", "index \(index)", "array of integer"]
        isMismatch(naming: words) { try narrow[index] }
        isMismatch(naming: words) { try narrow.elements(at: index..<index + 1) }
        isMismatch(naming: words) { try narrow.read { elements in try elements[index] } }
        isMismatch(naming: words) { try narrow.remove(at: index) }
        isMismatch(naming: words) { try table.barrier { tx in try narrow.mutate(at: index, in: &tx) { $0 = 1 } } }
      }
      isMismatch(naming: ["'a'", "index 3"]) { try narrow.allElements() }
      isMismatch(naming: ["'a'", "index 3"]) { try narrow.forEach { _, _ in } }
      isMismatch(naming: ["'a'", "index 39"]) { try narrow.last }
      #expect(try narrow[4] == 4)
      #expect(try narrow.elements(at: 4..<39).count == 35)
      #expect(try wide.count == 40)
      try narrow.set(5, at: 3)
      #expect(try wide[3] == 5)
    }
  }

  @Test func soIsOneOfAnotherShapeAndALaterCase() throws {
    let table = try Table.temporary()
    try SharedArray<LaterAccount>("accounts", in: table).append(LaterAccount(names: []))
    isMismatch(naming: ["'accounts'", "index 0"]) { try SharedArray<Account>("accounts", in: table)[0] }
    try SharedArray<Room>("rooms", in: table).append(contentsOf: [.hall, .attic])
    isMismatch(naming: ["'rooms'", "index 1"]) { try SharedArray<EarlierRoom>("rooms", in: table).allElements() }
  }

  @Test(arguments: Table.Variant.allCases) func aKeyThatIsNoneHereIsATypeMismatch(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let rooms = try SharedSet<EarlierRoom>("rooms", in: table)
      try rooms.insert(.hall)
      try SharedSet<Room>("rooms", in: table).insert(.attic)
      isMismatch(naming: ["'rooms'", "'attic'", "set of string"]) { try rooms.allElements() }
      isMismatch(naming: ["'rooms'", "'attic'"]) { try rooms.forEach { _ in } }
      #expect(try rooms.contains(.hall))
      #expect(try rooms.count == 2)
      let heat = try SharedDictionary<EarlierRoom, Int>("heat", in: table)
      try SharedDictionary<Room, Int>("heat", in: table).set(.attic, 1)
      isMismatch(naming: ["'heat'", "'attic'", "dictionary of string to integer"]) { try heat.allElements() }
      isMismatch(naming: ["'heat'", "'attic'"]) { try heat.keys() }
      isMismatch(naming: ["'heat'", "'attic'"]) { try heat.removeAll { _, _ in true } }
      try heat.set(.hall, 2)
      #expect(try SharedDictionary<Room, Int>("heat", in: table).allElements() == [.attic: 1, .hall: 2])
    }
  }

  /// Bytes that begin at multiples of 16 in a leaf, and not one behind the other.
  private struct Aligned: TableValue {
    static var tableType: ValueType { .bytes }
    static var tableAlignmentShift: Int { 4 }
    init() {}
    init?(tableBytes: UnsafeRawBufferPointer) { if tableBytes.count != 5 { return nil } }
    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try [UInt8](repeating: 6, count: 5).withTableBytes(body)
    }
  }

  @Test func anArrayOfAnotherAlignmentIsOfAnotherType() throws {
    let table = try Table.temporary()
    let aligned = try SharedArray<Aligned>("a", in: table)
    let bytes = try SharedArray<[UInt8]>("a", in: table)
    for _ in 0..<3 { try aligned.append(Aligned()) }
    #expect(code { _ = try bytes.allElements() } == .typeMismatch)
    #expect(code { try bytes.append([1]) } == .typeMismatch)
    #expect(try aligned.count == 3 && aligned.allElements().count == 3)
    #expect(try table.checkCollections() == [])
    try aligned.removeAll()
    try bytes.append([1])
    #expect(code { try aligned.append(Aligned()) } == .typeMismatch)
  }

  /// They are what earlier releases have stored.
  @Test func theLibrarysTypesHaveTheirNamesAsSignatures() throws {
    let table = try Table.temporary()
    func signature<T: TableValue>(_ type: T.Type) throws -> String {
      try SharedArray<T>("a", in: table).tree.place.signature
    }
    for integer in [try signature(Int.self), try signature(UInt8.self), try signature(Size.self)] {
      #expect(integer == "array of integer")
    }
    for double in [try signature(Double.self), try signature(Float.self)] { #expect(double == "array of double") }
    #expect(try signature(String.self) == "array of string")
    #expect(try signature([UInt8].self) == "array of bytes")
    #expect(try signature(Bool.self).hasPrefix("array of bool"))
  }
}
