extension ReadView {
  /// Visits every key that begins with `prefix`, each exactly once, by several threads at a time, and returns when all
  /// were visited: ``forEach(prefix:_:)`` in the manner of `DispatchQueue.concurrentPerform`.
  ///
  /// All threads see this view's version, whatever is written meanwhile (G1), and judge expiry by one instant. The calling
  /// thread is one of them. The others are started for the call and join the calling thread's section, so they wait for nobody, in the
  /// rwlock variant not even behind a writer that waits. On every thread `body` runs in a read section of the table: its reads
  /// are of this version, and barriers throw `wouldDeadlock`.
  ///
  /// Threads take the table in parts: the keys of a sub-table, some thousand, or less where the table is small. An observer's
  /// threads copy and validate as ``forEach(prefix:_:)`` does, each what it visits, all against the same version.
  /// Do not fork in `body`, unless for an exec: in the child this throws `forked`, or that thread ends there.
  /// - Parameters:
  ///   - prefix: of the keys; all by default. Looks at the whole table.
  ///   - threads: how many, the calling one included; nil: one a processor. At most 256, and fewer if the system has no more
  ///     or the table has no slots for them.
  ///   - body: called on all threads at once. The spans are valid during the call; an error stops all threads, each at
  ///     its next key.
  /// - Throws: the first error of any `body`, which stops the others likewise; for an observer `snapshotTooOld` and
  ///   `damaged`; `invalid` if `threads` is less than 1; `forked`.
  public func concurrentForEach(
    prefix: some TableKey = "", threads: Int? = nil,
    _ body: @escaping @Sendable (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    let count = threads ?? ConcurrentScan.processors
    guard count > 0 else {
      throw TableError(.invalid, table: table.name, "a table cannot be visited by \(count) threads; ask for 1 or more")
    }
    let bounded = min(count, ConcurrentScan.mostThreads)
    let bytes = unsafe prefix.withKeyBytes { unsafe [UInt8]($0) }
    try ConcurrentScan(table, section, prefix: bytes, threads: bounded, body).run(threads: bounded)
  }
}

extension Table {
  /// Visits every key that begins with `prefix` of the newest version, each exactly once, by several threads at a time, and
  /// returns when all were visited. One read section of the calling thread; what ``ReadView/concurrentForEach(prefix:threads:_:)``
  /// says holds.
  ///
  /// Blocks the calling thread. RCU variant: barriers go on meanwhile. rwlock variant: waits for the barrier that runs,
  /// and barriers wait until all is visited. Inside a ``read(timeout:_:)`` of the same table it joins that version.
  ///
  /// ```swift
  /// let total = Atomic(0)
  /// try table.concurrentForEach(prefix: "account/") { key, entry in
  ///   total.add(entry.value(as: Int.self) ?? 0, ordering: .relaxed)
  /// }
  /// ```
  /// - Parameters:
  ///   - prefix: of the keys; all by default. Looks at the whole table.
  ///   - threads: how many, the calling one included; nil: one a processor.
  ///   - timeout: for the rwlock variant's wait, and an observer's; nil = the table's.
  ///   - body: called on all threads at once.
  /// - Throws: the first error of any `body`; what ``read(timeout:_:)`` throws, `wouldDeadlock` inside a barrier of
  ///   this table among it; for an observer `snapshotTooOld`: then call again.
  public func concurrentForEach(
    prefix: some TableKey = "", threads: Int? = nil, timeout: Duration? = nil,
    _ body: @escaping @Sendable (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    try read(timeout: timeout) { view in try view.concurrentForEach(prefix: prefix, threads: threads, body) }
  }
}

extension Snapshot {
  /// Visits every key that begins with `prefix`, each exactly once, by several threads at a time, and returns when all were
  /// visited: see ``ReadView/concurrentForEach(prefix:threads:_:)``. Blocks the calling thread, and waits for no barrier.
  /// - Throws: the first error of any `body`; what ``read(_:)`` throws.
  public func concurrentForEach(
    prefix: some TableKey = "", threads: Int? = nil,
    _ body: @escaping @Sendable (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    try read { view in try view.concurrentForEach(prefix: prefix, threads: threads, body) }
  }
}
