import TableEngine

extension Table {
  /// Checks the whole table against its invariants, for tests and `shmctl check`; repairs after a dead writer first.
  ///
  /// Writers wait meanwhile, in the rwlock variant readers too. The work grows with the table.
  /// - Returns: what is wrong, one sentence each; empty if all is well.
  /// - Throws: what ``barrier(timeout:_:)`` throws.
  public func check(timeout: Duration = .seconds(60)) throws(TableError) -> [String] {
    do { return try segment.check(timeoutNanoseconds: nanoseconds(timeout)) } catch { throw named(error) }
  }
}
