import SharedTable
import TableDump

/// Looks, before records are stored, whether the table has a collection already that they belong to. It would be mixed with theirs: elements
/// that only the table had would be counted and walked no more, and those of the records would not fit its pages.
struct MixedCollections {
  private let table: Table
  private let rule: RecordLoad.Rule
  private let advice: String
  /// Names of the collections whose headers have come with the records, and which the table did not have: what it has later is theirs.
  private var brought: Swift.Set<[UInt8]> = []

  /// - Parameters:
  ///   - rule: one that keeps keys changes nothing by a record whose key is there.
  ///   - advice: what to do instead, for the complaint.
  init(with table: Table, _ rule: RecordLoad.Rule, advice: String) {
    self.table = table
    self.rule = rule
    self.advice = advice
  }

  /// Looks at records that are still to be stored.
  /// - Throws: a complaint if a collection would be mixed.
  mutating func refuse(_ batch: DumpBatch) throws {
    let brought = try table.read { view in
      var brought = self.brought
      try batch.forEach { record in
        let key = record.keyBytes
        let name = [UInt8](CollectionMembership.namePart(of: key))
        if brought.contains(name) { return }
        if let collection = try view.collection(of: key) {
          if rule == .keep, try view.contains(key) { return }
          throw refusal(of: collection)
        }
        if name.count == key.count, unsafe CollectionMembership.isHeader(record.attributes, record.value) {
          brought.insert(name)
        }
      }
      return brought
    }
    self.brought = brought
  }

  private func refusal(of collection: CollectionMembership) -> Complaint {
    let name = String.printableStart(collection.name)
    return Complaint(
      .wrongType, table: table.name,
      "it has a \(collection.kind) '\(name)', which would be mixed with the one of the records; "
        + "remove it first by 'shmctl del --force \(name)', \(advice)")
  }
}
