/// Tables that come back after a reboot: a daemon keeps a store of them (`durability` in shmd's configuration).
///
/// A barrier is committed when it returns: every process sees it, and no process that dies takes it away. Whether it outlives
/// the host is another question, which costs a disk's time: asked here.
extension Table {
  /// All barriers up to this version are on the disk; 0 if no store keeps the table. Never blocks, for observers as well.
  public var durableVersion: UInt64 { segment.durable }

  /// Waits until every barrier up to `version` is on the disk. A power cut does not take away what this returned for.
  ///
  /// Blocks the calling thread. The store decides when it writes: at once (`every-barrier`), or within its interval.
  ///
  /// ```swift
  /// try table.set("order", order)
  /// try table.waitUntilDurable(table.version)
  /// ```
  /// - Parameters:
  ///   - version: such as ``version``, loaded after what is to be durable was stored.
  ///   - timeout: nil = the table's.
  /// - Throws: `notDurable` if no store keeps the table, the store has failed, or was late; `wouldDeadlock` inside a section of
  ///   this table on this thread; `unlinked`, `forked`.
  @available(*, noasync, message: "blocks the thread; call it from one of your own")
  public func waitUntilDurable(_ version: UInt64, timeout: Duration? = nil) throws(TableError) {
    do {
      try segment.waitUntilDurable(version, timeoutNanoseconds: nanoseconds(timeout))
    } catch {
      throw named(error)
    }
  }

  /// The same for who may wait longer than this thread may: a server's.
  /// - Returns: false if the time was over; without time it does not block.
  package func isDurable(_ version: UInt64, within timeout: Duration) throws(TableError) -> Bool {
    do {
      try segment.waitUntilDurable(version, timeoutNanoseconds: nanoseconds(timeout))
      return true
    } catch .notDurable(.late) {
      return false
    } catch {
      throw named(error)
    }
  }

  /// Runs a barrier, as `barrier(timeout:_:)` does, and returns when it is on the disk.
  ///
  /// Others see the barrier before that, and may begin theirs: the wait holds up nobody.
  /// - Parameters:
  ///   - durable: false does not wait.
  ///   - timeout: for the table, and again for the disk; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what a barrier throws, with nothing changed. `notDurable` if the barrier *is committed* and not known to be on
  ///   the disk.
  @available(*, noasync, message: "blocks the thread; call it from one of your own")
  public func barrier<R: ~Copyable>(
    durable: Bool, timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    try beginBarrier(timeout)
    let version = segment.versionInBarrier
    let result = try runBarrier(body)
    if durable { try waitUntilDurable(version, timeout: timeout) }
    return result
  }
}
