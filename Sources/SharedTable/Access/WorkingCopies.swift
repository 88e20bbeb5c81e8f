import TableEngine

/// Copies of the values that the parts of an accessor have touched, for one run in one section.
///
/// Each value is read once and, if a part may have changed it, written back once. In between its copy is here, so that later
/// parts see what earlier ones did. Nobody outside sees the copies, and with them neither a view nor a transaction.
///
/// What is generic here is inlinable, as in ``ElementIndex``: it is compiled where a function is lifted, for the value's type.
@usableFromInline
final class WorkingCopies {
  /// The handle the section was opened on. Values name their keys by other handles, perhaps.
  @usableFromInline let table: Table
  /// Nil in a barrier.
  private let section: ReadSection?
  /// Of each key, in the order of their first touch: that of writing back, so that equal runs write equal logs. An accessor has few
  /// parts, and they are looked through.
  @usableFromInline var cells: [any AccessCell] = []

  init(_ table: Table, section: ReadSection?) {
    self.table = table
    self.section = section
  }

  /// - Throws: `wrongTable` for a part that is of another table.
  func admit(_ commonTable: CommonTable) throws(TableError) { _ = try commonTable.table(table) }

  @inlinable
  func read<Value, Output>(_ guarded: Guarded<Value>, _ body: (Value) throws -> Output) throws -> Output {
    try body(cell(guarded).value ?? guarded.defaultValue)
  }

  @inlinable
  func change<Value, Output>(_ guarded: Guarded<Value>, _ body: (inout Value) throws -> Output) throws -> Output {
    let cell = try cell(guarded)
    // Taken out meanwhile: with a second reference to it, an array would be copied at its first change.
    var value = cell.take() ?? guarded.defaultValue
    defer { cell.value = value }
    cell.isChanged = true
    return try body(&value)
  }

  /// Stores what was changed. At the end of a run that did not throw.
  func writeBack() throws(TableError) {
    for cell in cells { try cell.writeBack(table) }
  }

  @inlinable
  func cell<Value>(_ guarded: Guarded<Value>) throws(TableError) -> TypedCell<Value> {
    let place = cells.firstIndex { $0.key == guarded.key }
    if let place {
      if let cell = cells[place] as? TypedCell<Value> { return cell }
      // Touched as another type before: the table decides whether its bytes are a value of this one.
      try cells[place].writeBack(table)
    }
    let found = try find(guarded.key)
    let value = try table.checked(found.map { decode($0, as: Value.self) }, guarded.key)
    let cell = TypedCell(guarded.key, value, expires: Expiration(stored: found?.expiry ?? 0))
    if let place { cells[place] = cell } else { cells.append(cell) }
    return cell
  }

  @usableFromInline
  func find(_ key: [UInt8]) throws(TableError) -> FoundEntry? {
    let table = table
    guard let section else {
      let transaction = Transaction(table)
      return try transaction.find(key)
    }
    let view = ReadView(table, section)
    return try view.find(key)
  }
}
