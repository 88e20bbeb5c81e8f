public import TableEngine

extension Table {
  /// Checks the whole table against its invariants, for tests and `shmctl check`; recovers after a dead writer first.
  ///
  /// Writers wait meanwhile, in the rwlock variant readers too. The work grows with the table.
  /// - Returns: what is wrong, one sentence each; empty if all is well.
  /// - Throws: what `barrier(timeout:_:)` throws.
  public func check(timeout: Duration = .seconds(60)) throws(TableError) -> [String] {
    try naming(try Checker(segment).run(timeoutNanoseconds: nanoseconds(timeout)))
  }

  /// What a repair found and did.
  public typealias RepairReport = TableEngine.RepairReport

  /// Checks the table and, if anything is wrong with it, keeps what is provably whole and gives up the rest.
  ///
  /// For damage that no crash explains: after a crash nobody needs it. Writers wait meanwhile, in the rwlock variant
  /// readers too; in the RCU variant readers go on, but long snapshots end. A death in the middle leaves a table to be
  /// repaired again. Of a value's bytes nobody can tell whether they were changed. A mirror's ``Upstream/key`` is given up with whatever
  /// else is: shmd then reads all of the other store anew.
  /// - Parameters:
  ///   - timeout: for each wait, for other barriers and for readers; not for the work.
  ///   - dryRun: change nothing, and say what would be given up.
  ///   - force: repair even if more than half of the keys have to be given up.
  /// - Throws: what ``check(timeout:)`` throws; `damaged` if too much would be given up; `full` without room in /dev/shm.
  public func repair(
    timeout: Duration = .seconds(60), dryRun: Bool = false, force: Bool = false
  ) throws(TableError) -> RepairReport {
    do {
      return try Repairer(segment).run(
        timeoutNanoseconds: nanoseconds(timeout), dryRun: dryRun, force: force,
        voucher: isMirror ? Array(Upstream.key.utf8) : nil)
    } catch {
      throw named(error)
    }
  }
}
