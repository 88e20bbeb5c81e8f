import SharedTable
import Testing

/// `if:` means the same wherever something is stored.
@Suite struct SetConditionTests {
  /// One key, and the ways to it.
  struct Place {
    let name: String
    let set: (Int, Table.Condition) throws -> Bool
    let version: () throws -> UInt64?
    let value: () throws -> Int?
  }

  private func places(_ table: Table) throws -> [Place] {
    let dictionary = try SharedDictionary<Int, Int>("d", in: table)
    let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(10))
    return [
      Place(
        name: "table", set: { try table.set("k", $0, if: $1) }, version: { try table.entry(forKey: "k")?.version },
        value: { try table.get("k") }),
      Place(
        name: "transaction",
        set: { value, condition in try table.barrier { tx in try tx.set("t", value, if: condition) } },
        version: { try table.entry(forKey: "t")?.version }, value: { try table.get("t") }),
      Place(
        name: "dictionary", set: { try dictionary.set(1, $0, if: $1) }, version: { try dictionary.version(forKey: 1) },
        value: { try dictionary[1] }),
      Place(
        name: "dictionary in a barrier",
        set: { value, condition in try table.barrier { tx in try dictionary.set(2, value, if: condition, in: &tx) } },
        version: { try dictionary.version(forKey: 2) }, value: { try dictionary[2] }),
      Place(
        name: "cache", set: { try cache.set(1, $0, if: $1) }, version: { try cache.version(forKey: 1) },
        value: { try cache[1] }),
    ]
  }

  @Test func whatIsSetUnderAConditionIsStoredIfItHolds() throws {
    let table = try Table.temporary()
    for place in try places(table) {
      let name = Comment(rawValue: place.name)
      #expect(try place.version() == nil, name)
      #expect(try !place.set(1, .present), name)
      #expect(try !place.set(1, .version(0)), name)
      #expect(try place.value() == nil, name)
      #expect(try place.set(2, .absent), name)
      #expect(try !place.set(3, .absent), name)
      #expect(try place.value() == 2, name)
      let version = try #require(try place.version(), name)
      #expect(try place.set(4, .present), name)
      #expect(try !place.set(5, .version(version)), name)
      #expect(try place.value() == 4, name)
      #expect(try place.set(6, .version(try #require(try place.version()))), name)
      #expect(try place.set(7, .always), name)
      #expect(try place.value() == 7, name)
    }
  }

  @Test func theAwaitedFormsKnowConditionsToo() async throws {
    let table = try Table.temporary()
    let dictionary = try SharedDictionary<Int, Int>("d", in: table)
    let cache = try SharedCache<Int, Int>("c", in: table, limit: .entries(10))
    #expect(try await table.set("k", 1, if: .absent))
    #expect(try await !table.set("k", 2, if: .absent))
    #expect(try await dictionary.set(1, 1, if: .absent))
    #expect(try await !dictionary.set(1, 2, if: .absent))
    #expect(try await cache.set(1, 1, if: .absent))
    #expect(try await !cache.set(1, 2, if: .absent))
    #expect(try table.get("k") == 1 && dictionary[1] == 1 && cache[1] == 1)
  }

  @Test func aRefusedElementIsNeitherCountedNorListed() throws {
    let table = try Table.temporary()
    let dictionary = try SharedDictionary<String, Int>("d", in: table)
    let cache = try SharedCache<String, Int>("c", in: table, limit: .entries(10))
    #expect(try !dictionary.set("a", 1, if: .present))
    #expect(try !cache.set("a", 1, if: .present))
    #expect(try dictionary.count == 0 && cache.count == 0)
    #expect(try dictionary.keys() == [])
  }

  @Test func aCachesKeysAreWhatADictionarysAre() throws {
    enum Room: String, SharedKey { case hall, yard }
    let table = try Table.temporary()
    let byNumber = try SharedCache<Int, String>("n", in: table, limit: .entries(10))
    let byRoom = try SharedCache<Room, Int>("r", in: table, limit: .entries(10))
    try byNumber.set(-7, "seven")
    try byRoom.set(.hall, 1)
    #expect(try table.get("n/-7") == "seven" && table.get("r/hall") == 1)
    #expect(try byNumber[-7] == "seven" && byRoom[.hall] == 1 && byRoom[.yard] == nil)
    #expect(try byRoom.value(forKey: .yard) { 2 } == 2)
    #expect(try byNumber.remove(-7) && !byNumber.contains(-7))
  }
}
