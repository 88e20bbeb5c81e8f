public import TableEngine

extension Table {
  /// Runs `body` on one snapshot of the whole table.
  ///
  /// RCU variant: never waits, however long a writer takes (G5), and may run as long as it likes at the price of the
  /// limbo budget; values may be used in place. rwlock variant: waits for the barrier that runs, and barriers wait
  /// for it. A read inside a read of the same table on the same thread joins the outer snapshot and never waits.
  ///
  /// The closure is synchronous on purpose: a section belongs to a thread and never spans a suspension.
  /// - Parameters:
  ///   - timeout: for the rwlock variant's wait, and an observer's; nil = the table's.
  ///   - body: gets the view, which is valid until it returns.
  /// - Throws: what `body` throws; `wouldDeadlock` inside a barrier of this table, `timedOut`, `busy` (observer),
  ///   `slotsExhausted`, `forked`.
  @inlinable
  public func read<R: ~Copyable>(
    timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R
  ) throws -> R {
    try run(try beginRead(timeout), body)
  }

  /// Runs `body` in an open section and closes it.
  @inlinable
  func run<R: ~Copyable>(_ section: ReadSection, _ body: (borrowing ReadView) throws -> R) throws -> R {
    #if DEBUG || CheckedReads
      if Self.checksEveryRead { return try runChecked(section, body) }
    #endif
    defer { segment.endRead(section) }
    return try body(ReadView(self, section))
  }

  /// A read of several steps of which each is the library's: an observer that was overtaken starts over, as in a single `get`.
  /// - Parameter body: changes nothing but what it returns.
  @inlinable
  func withSection<R>(
    timeout: Duration?, _ body: (borrowing ReadView) throws(TableError) -> R
  ) throws(TableError) -> R {
    var retry = ObserverRetry()
    while true {
      let section = try beginRead(timeout)
      defer { segment.endRead(section) }
      do throws(TableError) {
        return try body(ReadView(self, section))
      } catch {
        try startOver(after: error, in: section, timeout, &retry)
      }
    }
  }

  /// A read of several steps whose body may throw any error: an observer that was overtaken starts over.
  @inlinable
  func withSection<R>(timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R) throws -> R {
    let result = try withSection(timeout: timeout) { view throws(TableError) -> Result<R, any Error> in
      do {
        return .success(try body(view))
      } catch let error as TableError {
        throw error
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// - Throws: the error, unless it says that an observer was overtaken; `busy` if that was the last attempt.
  @usableFromInline @inline(never)
  func startOver(
    after error: TableError, in section: ReadSection, _ timeout: Duration?, _ retry: inout ObserverRetry
  ) throws(TableError) {
    guard error.code == .snapshotTooOld, error.table == name, section.mayStartOver else { throw error }
    do throws(EngineError) {
      try retry.countAttempt(timeoutNanoseconds: nanoseconds(timeout))
    } catch {
      throw named(error)
    }
  }

  @inlinable @inline(__always)
  func beginRead(_ timeout: Duration?) throws(TableError) -> ReadSection {
    if let section = segment.beginReadQuickly() { return section }
    return try beginReadGenerally(timeout)
  }

  /// Out of line with its errors and its timeout: making them are calls into the runtime.
  @usableFromInline @inline(never)
  func beginReadGenerally(_ timeout: Duration?) throws(TableError) -> ReadSection {
    do throws(EngineError) {
      return try segment.beginRead(timeoutNanoseconds: nanoseconds(timeout))
    } catch {
      throw named(error)
    }
  }

  /// Runs `body` alone on the whole host and makes its changes visible all at once (G2, G3), or, if it throws or its
  /// process dies, not at all.
  ///
  /// Blocks while another barrier runs; in the rwlock variant also while readers are inside. Readers of the RCU
  /// variant go on meanwhile and see the version before. When this returns, every section that starts anywhere on
  /// the host sees the changes (G4).
  /// - Parameters:
  ///   - timeout: for the wait, not for `body`; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` throws, after undoing everything; `wouldDeadlock` inside any section of this table on this
  ///   thread, `timedOut` naming the holder, `full`, `damaged`, `unlinked`, `notPermitted` (observer), `forked`.
  @inlinable
  public func barrier<R: ~Copyable>(
    timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    try beginBarrier(timeout)
    return try runBarrier(body)
  }

  /// As ``barrier(timeout:_:)``, for bodies that throw only `TableError`; tried again as ``FullRetry`` says.
  /// - Parameter reach: what `body` may change.
  @inlinable @inline(__always)
  func withBarrier<R>(
    timeout: Duration? = nil, reach: BarrierReach = .table, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try retryingWhenFull(nanoseconds(timeout)) { () throws(TableError) in
      try beginBarrier(timeout, reach: reach)
      return try runBarrier(body)
    }
  }

  /// Waits for the table and opens a barrier.
  @usableFromInline
  func beginBarrier(_ timeout: Duration?, reach: BarrierReach = .table) throws(TableError) {
    do throws(EngineError) {
      try segment.beginBarrier(timeoutNanoseconds: nanoseconds(timeout), reach: reach)
    } catch {
      throw named(error)
    }
  }

  /// Opens a barrier of the whole table if that needs no waiting.
  /// - Returns: false with nothing done if it might have to wait, and inside a section of this table on this thread.
  func beginBarrierAtOnce() throws(TableError) -> Bool {
    do throws(EngineError) { return try segment.beginBarrierAtOnce() } catch { throw named(error) }
  }

  /// Runs `body` in the open barrier and closes it: committed, or undone if it throws.
  /// - Parameter isShared: whether others may share the barrier, so that it does not show its version.
  @inlinable
  func runBarrier<R: ~Copyable, E: Error>(
    isShared: Bool = false, _ body: (inout Transaction) throws(E) -> R
  ) throws(E) -> R {
    do throws(E) {
      var transaction = Transaction(self, sharedVersion: isShared ? segment.beginSharing() : 0)
      let result = try body(&transaction)
      if isShared { segment.endSharing() }
      segment.commitBarrier()
      return result
    } catch {
      if isShared { segment.endSharing() }
      segment.abortBarrier()
      throw error
    }
  }

  /// Runs `body` in the barrier that this thread is in; if it throws, undoes what it changed.
  @inlinable
  func runWithSavepoint<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    var transaction = Transaction(self, sharedVersion: segment.sharedVersion)
    return try transaction.withSavepoint(body)
  }

  /// Runs `body` in the barrier that this thread is in, and undoes nothing: for a `body` that has changed nothing if it throws.
  @inlinable
  func runUndivided<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    var transaction = Transaction(self, sharedVersion: segment.sharedVersion)
    return try body(&transaction)
  }
}
