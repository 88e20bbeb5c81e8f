public import TableEngine

extension Table {
  /// What readers may keep from being reused, and what happens beyond.
  public typealias Limits = Segment.Limits
  /// Permission bits, owner and group.
  public typealias Rights = Segment.Rights
  /// What ``Administration/shrink()`` has come to.
  public typealias Shrinking = IdleMaintenance.Shrinking

  /// Where a sweep that removes expired keys stands.
  public struct ExpirySweep: Sendable {
    fileprivate var cursor = ScanCursor()

    /// A new sweep.
    public init() {}
    /// The sweep is over: every key that was there all the time was looked at.
    public var isAtEnd: Bool { cursor.isAtEnd }
  }

  /// What whoever keeps the table can do with it.
  public var administration: Administration { Administration(table: self) }

  /// The administration of a table, for whoever keeps it: `shmd`, and tools. Participants only, except for ``Administration/isNamed``,
  /// ``Administration/rights()`` and ``Administration/backAllByHugePages()``. Programs that use a table need none of it.
  public struct Administration: Sendable {
    let table: Table
  }
}

extension Table.Administration {
  private var segment: Segment { table.segment }

  // MARK: - Limits and rights

  /// The limits in force. Never blocks.
  /// - Throws: `notPermitted` (observer), `forked`.
  public func limits() throws(TableError) -> Table.Limits {
    try table.naming(try segment.limits())
  }

  /// Changes the limits of the running table; they hold from the next barrier on. Never blocks.
  /// - Throws: `invalid` for a limbo budget below 0, with nothing changed; `notPermitted` (observer), `forked`.
  public func setLimits(_ limits: Table.Limits) throws(TableError) {
    try table.naming(try segment.setLimits(limits))
  }

  /// The owner, group and mode by which the system lets a process open the table. A system call; never blocks. For observers, too.
  /// - Throws: `system`.
  public func rights() throws(TableError) -> Table.Rights {
    try table.naming(try segment.rights())
  }

  /// Changes the owner, group and mode. A process that has the table open keeps it. Some system calls; never blocks.
  /// - Throws: `invalid` for a mode that the protocol cannot keep; `notPermitted` if the system refuses, and for an observer; `forked`.
  ///   Nothing is changed then.
  public func setRights(_ rights: Table.Rights) throws(TableError) {
    try table.naming(try segment.setRights(rights))
  }

  /// Whether the name still leads to this table. False after someone outside unlinked or replaced it: from then on
  /// two processes may use two tables without knowing. A few system calls; never blocks.
  public var isNamed: Bool { segment.isNamed }

  /// The options by which a table like this one is made: with its limits, owner, group and mode of this moment. For a tool that puts
  /// another table in its place. A system call; never blocks.
  /// - Throws: `notPermitted` (observer), `system`, `forked`.
  public func options() throws(TableError) -> Table.Options {
    try table.naming(try segment.options())
  }

  // MARK: - Memory

  /// Backs what the table holds now by huge pages (2 MiB), at once and whatever its size and options: fewer misses of the TLB
  /// when a table does not fit into the cache.
  ///
  /// A table of 16 MiB or more is backed so by itself, as it grows, unless it was made with `hugePages: false`. This is for
  /// smaller ones, and for a process that maps a table which was backed before it came.
  ///
  /// Blocks for some 100 µs for each 2 MiB, and holds up nobody else. Linux 6.1 or later, with enough free memory in one piece
  /// (madvise(2), MADV_COLLAPSE).
  /// - Returns: how many bytes this process maps by huge pages now; 0 where the kernel does not do it.
  /// - Throws: `forked`.
  @discardableResult
  public func backAllByHugePages() throws(TableError) -> Int {
    try table.naming(try segment.backAllByHugePages())
  }

  /// Gives memory that the table does not need back to the system, a step at a time: 1 MiB or more at its end, from which
  /// what is in use is moved before, up to 256 KiB a step. For a daemon's idle moments.
  ///
  /// Nothing is given back of a table that was made with `preallocate`, beside an observer, or as long as readers keep what
  /// lies there; a quarter more than what is in use stays. What is given back is claimed anew when it is needed, by the write
  /// that needs it, which finds `full` if the file system has none left.
  ///
  /// Does not wait for a running barrier. Writers wait for it, in the rwlock variant readers too: some milliseconds.
  /// - Returns: nil if a barrier was running.
  /// - Throws: `notPermitted` (observer), `wouldDeadlock` inside a section of this table on this thread, `damaged`, `forked`.
  public func shrink() throws(TableError) -> Table.Shrinking? {
    try table.naming(try IdleMaintenance(segment).shrink())
  }

  /// Backs by huge pages what the table has grown by and nobody has backed so yet, at most 32 MiB, if it is to be
  /// (`hugePages`). For a daemon's idle moments. Holds nobody up.
  /// - Returns: the bytes that are backed so since; 0 where there is nothing to do, and where the kernel refuses.
  /// - Throws: `forked`.
  @discardableResult
  public func backGrowthByHugePages() throws(TableError) -> Int {
    try table.naming(try IdleMaintenance(segment).backGrowthByHugePages())
  }

  /// What the table has claimed of its capacity, as its statistics say; costs a load.
  package var claimedBytes: Int { segment.claimedBytes }

  // MARK: - Upkeep

  /// How often a dead writer's work was undone or finished since the table was made; nil for observers.
  public var recoveryCount: UInt64? { segment.recoveryCount }

  /// Reclaims now if no process is writing, and recovers after a dead writer. For a daemon's idle moments: without it the next writer does both.
  /// - Parameter passes: the most passes of reclaiming: bounds how long a writer may have to wait for it.
  /// - Returns: whether anything was reclaimed or recovered; nil if a barrier was running.
  /// - Throws: `notPermitted` (observer), `wouldDeadlock` inside a section of this table on this thread, `damaged`, `forked`.
  @discardableResult
  public func maintain(passes: Int = .max) throws(TableError) -> Bool? {
    try table.naming(try IdleMaintenance(segment).run(passes: passes))
  }

  /// Withdraws what dead threads of killed processes still announce, and tells who they were. Never blocks.
  ///
  /// Nobody needs this for correctness: reclaiming does the same when a dead reader stands in its way.
  /// - Throws: `notPermitted` (observer), `forked`.
  public func clearDeadReaders() throws(TableError) -> [Table.Holder] {
    try table.naming(try segment.clearDeadReaders())
  }

  /// One bounded step of a sweep that removes expired keys. Waits as `barrier(timeout:_:)` does if there are any.
  ///
  /// - Parameters:
  ///   - sweep: where to go on; begin a new sweep with a new one.
  ///   - subTables: the most sub-tables to look at, of about a thousand keys each.
  ///   - limit: the most keys to remove in the one barrier.
  ///   - timeout: for that barrier's wait; nil = the table's.
  /// - Returns: how many were removed. Nobody saw them any more: expiry is judged when reading.
  /// - Throws: what `barrier(timeout:_:)` throws; `full` if there is no room to remove even one.
  public func sweepExpired(
    _ sweep: inout Table.ExpirySweep, subTables: Int = 8, limit: Int = 256, timeout: Duration? = nil
  ) throws(TableError) -> Int {
    try table.naming(
      try ExpirySweeper(segment).step(
        &sweep.cursor, subTables: subTables, limit: limit, timeoutNanoseconds: table.nanoseconds(timeout),
        now: table.clock.now))
  }

  /// A sweep over the whole table that ends once `limit` expired keys were found: removes them in one barrier. The work grows with the
  /// table.
  ///
  /// Blocks and throws as ``sweepExpired(_:subTables:limit:timeout:)``.
  /// - Returns: how many were removed.
  @discardableResult
  public func sweepExpired(limit: Int = 1000, timeout: Duration? = nil) throws(TableError) -> Int {
    var whole = Table.ExpirySweep()
    return try sweepExpired(&whole, subTables: .max, limit: limit, timeout: timeout)
  }
}
