public import SharedTable

extension Table {
  /// The table of the running test, by the trait ``TemporaryTable``.
  ///
  /// It belongs to the test's task and to tasks that are started in it, detached ones excepted. Threads and other processes are
  /// given the table, or its name.
  /// - Throws: `noSuchTable` outside such a test.
  public static var ofTest: Table {
    get throws(TableError) { try ofTest("") }
  }

  /// One of several tables of the running test: `.temporaryTable("orders")`.
  /// - Throws: `noSuchTable` outside a test that has a table of this label.
  public static func ofTest(_ label: String) throws(TableError) -> Table {
    if let table = TemporaryTable.tables[label] { return table }
    throw TableError(
      .noSuchTable, table: label.isEmpty ? "*" : label,
      "no table of a test's: give the test the trait '.temporaryTable(\(label.isEmpty ? "" : "\"\(label)\""))', and ask in its own task"
    )
  }
}
