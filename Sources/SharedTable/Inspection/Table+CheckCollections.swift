extension Table {
  /// Checks arrays, dictionaries, sets and caches: whether headers, nodes, indexes and elements fit together. What the table's
  /// own API stores or removes below a collection's name is no damage to the table, and ``check(timeout:)`` is silent about it.
  ///
  /// A read section over the whole table: in the rwlock variant writers wait meanwhile. Keeps the keys of collections in memory.
  /// - Returns: what is wrong, one sentence each, of a kind that is frequent in one collection the first few; empty if all is well.
  /// - Throws: what `read(timeout:_:)` throws.
  public func checkCollections(timeout: Duration? = nil) throws -> [String] {
    try read(timeout: timeout) { view in try CollectionCheck.problems(in: view) }
  }
}
