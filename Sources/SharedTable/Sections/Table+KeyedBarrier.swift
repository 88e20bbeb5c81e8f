public import TableEngine

extension Table {
  /// Runs `body` beside everything on the host that uses none of these keys, and makes its changes visible all at once or,
  /// if it throws or its process dies, not at all.
  ///
  /// For work that lasts and concerns one part of the table, such as one of several caches: while it runs, readers and
  /// writers of the other keys go on, and so do barriers of other keys. It excludes barriers that lock one of the same keys, single
  /// writes of these keys, and barriers of the whole table. A key stands for itself and for all that begin with it and a slash: `"a"`
  /// for `"a/b"` too, and so the name of a collection for its elements. Readers see the state before until it has ended.
  ///
  /// The transaction reads and writes these keys only, so the outcome is as if barriers of keys had run one after the other.
  /// It keeps its changes in its process's memory and commits them in a short barrier of the table at its end. Before the commit the
  /// version of its own changes is not known (``TableEntry/version`` shows a lower one), and the change log gets one record a key.
  ///
  /// Blocks while another barrier of keys holds one of these keys, or asked for one before this call: first come, first served; and
  /// to note its keys, while a barrier or a change of any value runs. A killed process holds nothing. In the rwlock variant its reads, too,
  /// wait while another barrier runs, and may throw `timedOut`. At its end it blocks like a barrier of the whole table, as long again at most.
  /// - Parameters:
  ///   - keys: at least one, and at most 36 together with those above them (`a` and `a/b` for `a/b/c`); all are locked at
  ///     once, so that no two such barriers can wait for each other.
  ///   - timeout: for each of the two waits, not for `body`; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what `body` throws, after forgetting everything; what `barrier(timeout:_:)` throws, also after `body` has
  ///   run: nothing was changed then. `invalid` for no keys, too many, and for a key that was not named.
  @inlinable
  public func barrier<R: ~Copyable>(
    keys: [some TableKey], timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    try beginKeyedBarrier(keyBytes(of: keys), timeout, forCommit: timeout)
    return try runKeyedBarrier(body)
  }

  @usableFromInline
  func beginKeyedBarrier(
    _ keys: [[UInt8]], _ timeout: Duration?, forCommit commitTimeout: Duration?
  ) throws(TableError) {
    try checkNotEmpty(keys)
    do throws(EngineError) {
      try segment.beginKeyedBarrier(
        keys, timeoutNanoseconds: nanoseconds(timeout), commitTimeoutNanoseconds: nanoseconds(commitTimeout))
    } catch {
      throw named(error)
    }
  }

  /// Begins a barrier of some keys if that needs no waiting.
  /// - Parameter timeout: for the commit.
  /// - Returns: false with nothing done if it might have to wait.
  func beginKeyedBarrierAtOnce(_ keys: [[UInt8]], _ timeout: Duration?) throws(TableError) -> Bool {
    try checkNotEmpty(keys)
    do throws(EngineError) {
      return try segment.beginKeyedBarrierAtOnce(keys, timeoutNanoseconds: nanoseconds(timeout))
    } catch {
      throw named(error)
    }
  }

  private func checkNotEmpty(_ keys: [[UInt8]]) throws(TableError) {
    if keys.isEmpty {
      throw TableError(.invalid, table: name, "a barrier of keys needs at least one key; name one, or use 'barrier'")
    }
  }

  /// Runs `body` with the keys locked and closes the barrier: committed, or forgotten if it throws.
  @inlinable
  func runKeyedBarrier<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    let result = try runInKeyedBarrier(body)
    try commitKeyedBarrier()
    return result
  }

  /// Runs `body` with the keys locked, and leaves the barrier open unless it throws.
  @inlinable
  func runInKeyedBarrier<R: ~Copyable>(_ body: (inout Transaction) throws -> R) throws -> R {
    do {
      var transaction = Transaction(self)
      return try body(&transaction)
    } catch {
      segment.abortKeyedBarrier()
      throw error
    }
  }

  @inlinable
  func commitKeyedBarrier() throws(TableError) {
    do throws(EngineError) { _ = try segment.commitKeyedBarrier() } catch { throw named(error) }
  }
}

/// Compiled in the program: what is generic is not specialised for other modules' types.
@inlinable
func keyBytes(of keys: [some TableKey]) -> [[UInt8]] { keys.map { unsafe $0.withKeyBytes { unsafe [UInt8]($0) } } }

extension Table {
  /// How many bytes of entries a section of this thread meets at most: what the table holds and, in a barrier of some keys, what that has
  /// changed so far, which lies in its process's memory until the commit. A walk that meets more goes in circles.
  var reachableBytes: Int { capacityBytes + segment.bufferedBytes }
}
