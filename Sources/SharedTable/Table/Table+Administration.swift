public import TableEngine

/// For whoever keeps tables: `shmd`, and tools. Participants only, except for ``isNamed`` and ``rights()``.
extension Table {
  /// What readers may keep from being reused, and what happens beyond.
  public typealias Limits = Segment.Limits
  /// Permission bits, owner and group.
  public typealias Rights = Segment.Rights

  /// The limits in force. Never blocks.
  public func limits() throws(TableError) -> Limits {
    do { return try segment.limits() } catch { throw named(error) }
  }

  /// Changes the limits of the running table; they hold from the next barrier on. Never blocks.
  public func setLimits(_ limits: Limits) throws(TableError) {
    do { try segment.setLimits(limits) } catch { throw named(error) }
  }

  /// Who may open the table, as the system says now. Never blocks.
  public func rights() throws(TableError) -> Rights {
    do { return try segment.rights() } catch { throw named(error) }
  }

  /// Changes who may open the table. Who has it open keeps it.
  /// - Throws: `notPermitted` for a mode that the protocol cannot keep, or if the system refuses.
  public func setRights(_ rights: Rights) throws(TableError) {
    do { try segment.setRights(rights) } catch { throw named(error) }
  }

  /// Whether the name still leads to this table. False after someone outside unlinked or replaced it: from then on
  /// two processes may use two tables without knowing. A few system calls; never blocks.
  public var isNamed: Bool { segment.isNamed }

  /// Asks the kernel to back what the table holds now by huge pages (2 MiB), in this process: fewer misses of the TLB
  /// when a table does not fit into the cache. A gain of some per cent at best, and none on some machines: measure.
  ///
  /// Blocks for some 100 µs for each 2 MiB, and holds up nobody else. What the table grows by later is not included.
  /// Linux 6.1 or later, with enough free memory in one piece (madvise(2), MADV_COLLAPSE).
  /// - Returns: how many bytes this process maps by huge pages now; 0 where the kernel does not do it.
  @discardableResult
  public func useHugePages() throws(TableError) -> Int {
    do { return try segment.useHugePages() } catch { throw named(error) }
  }

  /// How often a dead writer's work was repaired since the table was made; nil for observers.
  public var recoveryCount: UInt64? { segment.recoveryCount }

  /// Withdraws what dead threads of killed processes still announce, and tells who they were. Never blocks.
  ///
  /// Nobody needs this for correctness: gc does the same when a dead reader stands in its way.
  public func clearDeadReaders() throws(TableError) -> [Holder] {
    do { return try segment.clearDeadReaders() } catch { throw named(error) }
  }

  /// Where a round of removing expired keys stands.
  public struct ExpirySweep: Sendable {
    var cursor = ScanCursor()

    /// A new round.
    public init() {}
    /// The round is over: every key that was there all the time was looked at.
    public var isAtEnd: Bool { cursor.isAtEnd }
  }

  /// One bounded step of a round that removes expired keys. Waits as `barrier(timeout:_:)` does if there are any.
  ///
  /// - Parameters:
  ///   - sweep: where to go on; begin a new round with a new one.
  ///   - subTables: the most sub-tables to look at, of about a thousand keys each.
  ///   - limit: the most keys to remove in the one barrier.
  ///   - timeout: for that barrier's wait; nil = the table's.
  /// - Returns: how many were removed.
  public func sweepExpired(
    _ sweep: inout ExpirySweep, subTables: Int = 8, limit: Int = 256, timeout: Duration? = nil
  ) throws(TableError) -> Int {
    do {
      return try ExpirySweeper(segment).step(
        &sweep.cursor, subTables: subTables, limit: limit, timeoutNanoseconds: nanoseconds(timeout), now: clock.now)
    } catch {
      throw named(error)
    }
  }
}
