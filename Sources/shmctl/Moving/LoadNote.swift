import SharedTable
import TableDump

/// How much of a dump a load has applied: a key of the table itself, changed in the barriers that apply the records. So it is right
/// after whatever ended the load, and gone with the table.
struct LoadNote {
  let key: String

  /// - Throws: a complaint if the dump does not say of which table and moment it is: another could not be told from it.
  init(of header: DumpHeader) throws(Complaint) {
    guard header.taken != 0, !header.table.isEmpty else {
      throw .usage("the dump does not say when and of what it was taken, so it cannot be told from another; use --skip")
    }
    key = "shmctl.load.\(header.table).\(header.version).\(header.taken)"
  }

  /// 0 if none was begun.
  func done(in table: Table) throws -> UInt64 { try table.get(key, as: Int.self).map { UInt64(clamping: $0) } ?? 0 }

  func set(_ done: UInt64, in tx: inout Transaction) throws(TableError) { try tx.set(key, Int(clamping: done)) }

  func remove(from table: Table) throws { try table.remove(key) }
}
