extension Table {
  /// Waits until a version above `version` is committed, by whatever process; misses none, whenever it came.
  ///
  /// Blocks the calling thread: not for asynchronous code. A version may have changed nothing: aborted barriers and
  /// reclaiming count too.
  ///
  /// ```swift
  /// let seen = table.version
  /// … // look at the table
  /// if try table.waitForCommit(after: seen) { … }  // look again
  /// ```
  /// - Parameter version: such as ``version``, loaded before what is being waited for was looked at.
  /// - Parameter timeout: nil = the table's.
  /// - Returns: true if there is such a version, false after the timeout.
  /// - Throws: `wouldDeadlock` inside a section of this table on this thread, `unlinked` within a tenth of a second after
  ///   the table was dropped, `forked`.
  @available(*, noasync, message: "blocks the thread; use changes(after:prefix:)")
  public func waitForCommit(after version: UInt64, timeout: Duration? = nil) throws(TableError) -> Bool {
    try naming(try segment.waitForCommit(after: version, timeoutNanoseconds: nanoseconds(timeout)))
  }
}
