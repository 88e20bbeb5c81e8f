/// The table that the parts of an accessor have in common, as far as that is known before it runs; and by which handle its section opens.
@usableFromInline
enum CommonTable: Sendable {
  case one(Table)
  /// Parts of two tables: no section can hold both, so running it is an error.
  case two(Table, Table)

  func joined(_ other: CommonTable) -> CommonTable {
    guard case .one(let ours) = self else { return self }
    switch other {
    case .two: return other
    case .one(let theirs):
      if !ours.isSameTable(as: theirs) { return .two(ours, theirs) }
      // Either handle would do for reading; only one that takes part can write.
      return .one(ours.isObserver ? theirs : ours)
    }
  }

  /// The handle to open the section on.
  /// - Parameter chosen: a handle that the caller wants it to run on; nil = the accessor's own.
  /// - Throws: `wrongTable`.
  func table(_ chosen: Table?) throws(TableError) -> Table {
    switch self {
    case .one(let own):
      guard let chosen, !own.isSameTable(as: chosen) else { return chosen ?? own }
      throw .wrongTable(own, runningOn: chosen)
    case .two(let first, let second):
      throw .wrongTable(second, runningOn: chosen ?? first)
    }
  }
}

extension TableError {
  static func wrongTable(_ part: Table, runningOn table: Table) -> TableError {
    TableError(
      .wrongTable, table: table.name,
      "a part of the accessor belongs to another table, '\(part.name)'; compose and run only values of one table")
  }
}
