import FoundationEssentials
import SharedTableFoundation
import TableTestSupport
import Testing

@testable import SharedTable

/// Codable values that tables and collections hold by one line.
@Suite struct SharedCodableTests {
  struct Account: SharedCodable, Equatable {
    var name: String
    var logins: [Int] = []
    var limits: [String: Double] = [:]
    var note: String?
    var address: Address?

    struct Address: Codable, Equatable {
      var street: String
    }
  }

  /// Of a later release: it has a field more, and one that the earlier one requires no more.
  struct LaterAccount: SharedCodable, Equatable {
    var name: String
    var colour: String?
  }

  struct Stubborn: SharedCodable {
    struct Refusal: Error {}
    var refuses = true

    init(refuses: Bool) { self.refuses = refuses }
    init(from decoder: any Decoder) throws { refuses = false }
    func encode(to encoder: any Encoder) throws {
      if refuses { throw Refusal() }
      var container = encoder.singleValueContainer()
      try container.encode(1)
    }
  }

  private let ann = Account(
    name: "Ann \"\u{1}☃", logins: [1, .min], limits: ["a": 0.1, "b": .infinity], note: nil, address: .init(street: "x"))

  @Test func itComesBackAsItWentFromTableBarrierSnapshotAndCollections() throws {
    let table = try Table.temporary()
    try table.set("k", ann)
    #expect(try table.get("k", as: Account.self) == ann)
    try table.barrier { tx in
      #expect(try tx.get("k", as: Account.self) == ann)
      try tx.set("k2", ann)
    }
    #expect(try table.read { view in try view.get("k2", as: Account.self) } == ann)

    let dictionary = try SharedDictionary<String, Account>("d", in: table)
    try dictionary.set("ann", ann)
    #expect(try dictionary["ann"] == ann)
    let array = try SharedArray<Account>("a", in: table)
    try array.append(ann)
    try array.append(contentsOf: [ann, Account(name: "Bob")])
    try array.insert(Account(name: "Cid"), at: 1)
    #expect(try array.allElements() == [ann, Account(name: "Cid"), ann, Account(name: "Bob")])
    let cache = try SharedCache<String, Account>("c", in: table, limit: .entries(10))
    try cache.set("ann", ann)
    #expect(try cache["ann"] == ann)
  }

  @Test func itIsJSONThatOthersRead() throws {
    let table = try Table.temporary()
    try table.set("k", Account(name: "Ann", limits: ["b": 1, "a": .infinity]))
    #expect(
      try table.get("k", as: JSONText.self)?.bytes
        == Array(#"{"limits":{"a":"inf","b":1},"logins":[],"name":"Ann"}"#.utf8))
    #expect(try table.get("k", as: Coded<LaterAccount>.self)?.value == LaterAccount(name: "Ann"))
    #expect(try table.get("k", codable: LaterAccount.self) == LaterAccount(name: "Ann"))
    try table.set("other", codable: LaterAccount(name: "Bob", colour: "red"))
    #expect(try table.get("other", as: LaterAccount.self) == LaterAccount(name: "Bob", colour: "red"))
  }

  @Test func releasesShareWhatBothKnow() throws {
    let table = try Table.temporary()
    try table.set("k", ann)
    #expect(try table.get("k", as: LaterAccount.self) == LaterAccount(name: ann.name))
    try table.set("k", LaterAccount(name: "Bob", colour: "red"))
    // It lacks what the earlier one requires.
    #expect(code { _ = try table.get("k", as: Account.self) } == .typeMismatch)
    try table.set("k", JSONText(bytes: Array("{".utf8)))
    #expect(code { _ = try table.get("k", as: Account.self) } == .typeMismatch)
    try table.set("k", "text")
    #expect(code { _ = try table.get("k", as: Account.self) } == .typeMismatch)
  }

  /// Wherever it is written, and what was there stays.
  @Test func aValueThatDoesNotEncodeIsRefusedAndChangesNothing() throws {
    let table = try Table.temporary()
    let refused = Stubborn(refuses: true)
    let dictionary = try SharedDictionary<String, Stubborn>("d", in: table)
    let array = try SharedArray<Stubborn>("a", in: table)
    let cache = try SharedCache<String, Stubborn>("c", in: table, limit: .entries(10))
    try table.set("k", 1)
    try array.append(Stubborn(refuses: false))
    func contents() throws -> [[UInt8]: [UInt8]] {
      try table.read { view in
        Dictionary(uniqueKeysWithValues: try view.keys().map { ($0, try view.entry(forKey: $0)!.bytes) })
      }
    }
    let before = try contents()
    let error = #expect(throws: TableError.self) { try table.set("k", refused) }
    #expect(error?.code == .invalid && error?.message.contains("Stubborn") == true)
    #expect(code { try table.barrier { tx in try tx.set("k", refused) } } == .invalid)
    #expect(code { try dictionary.set("k", refused) } == .invalid)
    #expect(code { try cache.set("k", refused) } == .invalid)
    #expect(code { try array.append(refused) } == .invalid)
    #expect(code { try array.append(contentsOf: [Stubborn(refuses: false), refused]) } == .invalid)
    #expect(code { try array.insert(refused, at: 0) } == .invalid)
    #expect(code { try array.set(refused, at: 0) } == .invalid)
    #expect(try table.get("k", as: Int.self) == 1)
    #expect(try array.count == 1)
    #expect(try dictionary["k"] == nil)
    #expect(try cache["k"] == nil)
    #expect(try contents() == before)
    // The next barrier of whoever was refused goes on as always.
    try table.set("k", 2)
  }

  @Test func theAwaitFormRefusesIt() async throws {
    let array = try SharedArray<Stubborn>("a", in: try Table.temporary())
    let error = await #expect(throws: TableError.self) {
      try await array.append(contentsOf: [Stubborn(refuses: false), Stubborn(refuses: true)])
    }
    #expect(error?.code == .invalid)
  }

  /// Encoding and decoding are the user's code, and may come back to the table.
  struct Meddler: SharedCodable {
    @TaskLocal static var table: Table?

    init() {}
    init(from decoder: any Decoder) throws { _ = try Self.table?.get("other", as: Int.self) }
    func encode(to encoder: any Encoder) throws {
      try Self.table?.set("other", 2)
      var container = encoder.singleValueContainer()
      try container.encode(true)
    }
  }

  @Test func whatItsCodeDoesToTheTableIsAsElsewhere() throws {
    let table = try Table.temporary()
    try table.set("other", 1)
    try Meddler.$table.withValue(table) {
      // Encoded inside the barrier, where a write of its own cannot wait for another.
      #expect(code { try table.barrier { tx in try tx.set("k", Meddler()) } } == .invalid)
      #expect(try table.get("k", as: JSONText.self) == nil)
      #expect(try table.get("other", as: Int.self) == 1)
      // And before it.
      try table.set("k", Meddler())
      #expect(try table.get("other", as: Int.self) == 2)
      #expect(try table.get("k", as: Meddler.self) != nil)
    }
  }

  @Test func theLargestAndAFullTableAreRefusedAsAnyValue() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let quotes = Account(name: "").jsonLength
    let longest = table.maximumValueLength - quotes
    #expect(code { try table.set("k", Account(name: String(repeating: "a", count: longest + 1))) } == .tooLarge)
    let largest = Account(name: String(repeating: "a", count: longest))
    try table.set("k", largest)
    #expect(try table.get("k", as: Account.self) == largest)
    #expect(code { for index in 0..<100 { try table.set("k\(index)", largest) } } == .full)
    #expect(try table.get("k", as: Account.self) == largest)
  }
}

extension SharedCodableTests.Account {
  fileprivate var jsonLength: Int { withTableBytes { bytes in bytes.count } }
}
