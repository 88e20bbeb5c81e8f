import SharedTable
import TableDump

/// Looks, before records are stored, whether the table has a collection already that they belong to. It would be mixed with theirs: elements
/// that only the table had would be counted and walked no more, and those of the records would not fit its pages.
struct MixedCollections {
  private let table: Table
  private let rule: RecordLoad.Rule
  private let advice: String
  /// How many of the records that are still to come an earlier load has stored.
  var stored: UInt64
  /// Names of the collections whose headers have come with the records, and which the table did not have: what it has later is theirs.
  private var brought: Swift.Set<[UInt8]> = []

  /// - Parameters:
  ///   - rule: one that keeps keys changes nothing by a record whose key is there.
  ///   - advice: what to do instead, for the complaint.
  ///   - stored: how many of the first records an earlier load has stored.
  init(with table: Table, _ rule: RecordLoad.Rule, advice: String, stored: UInt64 = 0) {
    self.table = table
    self.rule = rule
    self.advice = advice
    self.stored = stored
  }

  /// Looks at the next records, before they are stored.
  /// - Throws: a complaint if a collection would be mixed.
  mutating func refuse(_ batch: DumpBatch) throws {
    var next = self
    try table.read { view in
      try batch.forEach { record in try next.refuse(record, view) }
    }
    self = next
  }

  private mutating func refuse(_ record: DumpRecord, _ view: borrowing ReadView) throws {
    let key = record.keyBytes
    let name = [UInt8](CollectionMembership.namePart(of: key))
    let isHeader = name.count == key.count && (unsafe CollectionMembership.isHeader(record.attributes, record.value))
    if stored > 0 {
      stored -= 1
      // One that had expired by then was not stored.
      if isHeader, try !record.attributes.hasExpired(at: view.now) || view.contains(key) { brought.insert(name) }
      return
    }
    if brought.contains(name) || record.attributes.hasExpired(at: view.now) { return }
    let isKept = try rule == .keep && view.contains(key)
    if let collection = try view.collection(of: key) {
      if isKept { return }
      throw refusal(of: collection.name, "has a \(collection.kind)")
    }
    // Its elements would be stored without it.
    if isHeader, isKept { throw refusal(of: name, "has a value") }
    if isHeader { brought.insert(name) }
  }

  private func refusal(of name: [UInt8], _ what: String) -> Complaint {
    let name = String.printableStart(name)
    return Complaint(
      .wrongType, table: table.name,
      "it \(what) '\(name)', which would be mixed with the collection of the records; "
        + "remove it first by 'shmctl del -t \(table.name) --force \(name)', \(advice)")
  }
}
