import TableEngine

/// A cache that all processes of the host share: bounded, evicting what was used longest ago, computing a missing value
/// once.
///
/// ```swift
/// let sessions = try SharedCache<String, String>("sessions", in: table, limit: .entries(10_000))
/// let session = try sessions.value(forKey: id) { try load(id) }
/// ```
/// - Reads see one committed version, wait for nobody in the RCU variant (G5), and write nothing shared: the process notes its hits
///   for itself. When elements are added, it stores these notes in the table, by short barriers on a thread of the library.
/// - A write evicts in its own barrier: no snapshot on the host shows more than the limit allows. If a process dies in a write, the
///   cache is as it was before or after that write (G2). If a handle has a lower limit than earlier ones had, each of its writes
///   evicts up to 4,096 elements more than there have to go for its own, until the cache is within that limit.
/// - Eviction is sampled LRU: hit rates are within a fraction of a percentage point of a true LRU's. Expired elements
///   go first.
/// - In the table its elements lie under `NAME/` and their keys' bytes, where `table.get` and `shmctl` find them. Write
///   them through the cache only: elements that are stored there by other ways are neither counted nor evicted. The bytes of name and key
///   together are at most 65,534, as a key's claim needs two more.
///
/// Each handle applies its own limit to its own writes: give all processes the same limit. Keep one handle a process: the handle
/// remembers the hits. Use it from any thread, task and process; after `fork()` the child opens table and cache again.
/// Observers can read, but their hits do not count when elements are evicted.
public final class SharedCache<Key: SharedKey, Value: TableValue>: Sendable {
  @usableFromInline let core: CacheCore
  /// How long elements live unless their write says otherwise; nil = for ever.
  public let timeToLive: Duration?
  /// Where the cache's queue reports the errors of writes that no caller waits for.
  private let failures: FailureReport

  /// Names a cache; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without '/', '#' and control characters.
  ///   - limit: what it may hold, above 0.
  ///   - timeToLive: how long elements live unless their write says otherwise; nil = for ever.
  ///   - errorHandler: the library calls it, on a thread of Dispatch's, with the error of a write that no caller waits for. By
  ///     default the library writes a line to standard error, as a ``BarrierQueue`` does.
  ///   - table: where it lies.
  /// - Throws: `invalid`.
  public init(
    _ name: String, in table: Table, limit: CacheLimit, timeToLive: Duration? = nil,
    errorHandler: (@Sendable (TableError) -> Void)? = nil
  ) throws(TableError) {
    core = try CacheCore(table, name, limit: limit)
    self.timeToLive = timeToLive
    failures =
      errorHandler.map { handler in
        FailureReport(name) { error in if let error = error as? TableError { handler(error) } }
      } ?? core.queue.failures
  }

  /// The table that it lies in.
  public var table: Table { core.table }
  /// The name that it has in the table.
  public var name: String { core.name }
  /// What it may hold.
  public var limit: CacheLimit { core.limit }

  // MARK: - Reading

  /// The value of a key, copied out; nil if it is absent or expired. Waits as `table.get` does: for
  /// nobody, in the RCU variant; and first for the writes that were submitted by this handle and not waited for.
  /// - Throws: `typeMismatch` if the value is of another type; `timedOut` if such writes last longer than the table's timeout; what else
  ///   ``Table/get(_:as:)->T?`` throws.
  @inlinable
  public subscript(key: Key) -> Value? {
    get throws(TableError) {
      try core.awaitWrites()
      return try committed(key)
    }
  }

  /// As the subscript, without a wait for writes that are on their way.
  @inlinable @inline(__always)
  func committed(_ key: Key) throws(TableError) -> Value? {
    try unsafe withElementKey(key) { bytes throws(TableError) -> Value? in
      let hash = unsafe core.hash(bytes)
      let value: Value?
      if let quick: Value? = unsafe core.segment.value(bytes, hash: hash) {
        value = quick
      } else {
        value = try unsafe core.table.getUndecided(RawKey(bytes), as: Value.self)
      }
      if value != nil { core.noteHit(hash) }
      return value
    }
  }

  /// Whether the key is present and not expired. Counts as no use. Waits and throws as the subscript, but no `typeMismatch`.
  @inlinable
  public func contains(_ key: Key) throws(TableError) -> Bool {
    try core.awaitWrites()
    return try unsafe withElementKey(key) { bytes throws(TableError) in try unsafe core.table.contains(RawKey(bytes)) }
  }

  /// The version of a key's value, for `if: .version(…)`; nil if it is absent or expired. Counts as no use. Waits and throws as the
  /// subscript, but no `typeMismatch`.
  @inlinable
  public func version(forKey key: Key) throws(TableError) -> UInt64? {
    try core.awaitWrites()
    return try unsafe withElementKey(key) { bytes throws(TableError) in
      try unsafe core.table.withEntry(RawKey(bytes)) { $0.version }
    }
  }

  /// How many elements there are, as of the newest version. Expired ones count until a write of the cache passes them, also if the
  /// table's keeper, as `shmd`, has removed them.
  ///
  /// Waits for writes of this handle that were not waited for, at most for the table's timeout, but not in a section of the table. Where
  /// none is on its way it never blocks in the RCU variant.
  /// - Throws: `typeMismatch` if the name holds something else; `damaged` until the next write heals it; `timedOut`.
  public var count: Int { get throws(TableError) { Int(clamping: try core.currentHead()?.count ?? 0) } }

  /// What the elements cost in all: see ``CacheLimit/bytes(_:)``. Waits and throws as ``count`` does.
  public var totalCost: Int { get throws(TableError) { Int(clamping: try core.currentHead()?.cost ?? 0) } }

  /// How many elements were pushed out since the cache was made, or since a write last healed its damaged ledger: expired ones too, but
  /// not those that a write struck out for no other reason. Waits and throws as ``count`` does.
  public var evictionCount: Int { get throws(TableError) { Int(clamping: try core.currentHead()?.evictions ?? 0) } }

  // MARK: - Writing

  /// Stores a value, and evicts in the same barrier the elements for which there is no room any more.
  ///
  /// Waits as `Table.barrier(timeout:_:)` does, after writes of this handle that were not waited for. If the table is full, the
  /// writer evicts more elements. A process that is just computing a value for the key gets this one instead.
  /// - Parameters:
  ///   - cost: what it counts towards a limit in bytes; nil = the bytes of key and value.
  ///   - expires: nil = by the cache's time to live.
  ///   - condition: what must hold of the key for it to happen.
  ///   - key: the element's.
  ///   - timeout: for each of its waits: for the handle's submitted writes, for the table, and for the table again if it had to make
  ///     room first; nil = the table's.
  ///   - value: what to store.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: `tooLarge` if it costs more than the whole cache may; `full` if it found no room even after the cache was empty;
  ///   `typeMismatch` if something else has the cache's name; what a barrier throws.
  @discardableResult
  @inlinable
  public func set(
    _ key: Key, _ value: Value, cost: Int? = nil, expires: Expiration? = nil, if condition: Table.Condition = .always,
    timeout: Duration? = nil
  ) throws(TableError) -> Bool {
    try core.awaitWrites(timeout)
    return try unsafe withElementKey(key) { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        let write = unsafe CacheWrite(
          key: key, bytes: bytes, form: StoredForm(of: Value.self), cost: cost, expires: expiration(expires))
        return try unsafe core.storeInOwnBarrier(write, if: condition, timeout: timeout)
      }
    }
  }

  /// Stores a value now, or soon.
  ///
  /// Writes of one handle happen in the order of these calls, and a thread's next call of the handle sees them: the handle's
  /// other methods first wait for all submitted writes, of any thread. Inside a section of the table they do not wait: a section shows
  /// its own version.
  /// - Parameters:
  ///   - done: true: as `set(_:_:cost:expires:if:timeout:)`, which asynchronous code should await instead, since this form blocks its
  ///     thread. False: returns at once, and errors go to the cache's `errorHandler`. With 1,024 writes waiting it blocks its thread until they
  ///     are done, also one of Swift's pool: asynchronous code that stores many values should await `set`, which suspends.
  ///   - key: the element's.
  ///   - value: what to store.
  /// - Throws: what ``flush(timeout:)`` does if it waits for others; `unsupported` in a child whose parent had
  ///   done asynchronous work, if not waiting until done; then nothing was submitted.
  public func set(_ key: Key, _ value: Value, waitUntilDone done: Bool) throws(TableError) {
    if done {
      try set(key, value)
      return
    }
    let element = element(key)
    try core.submitWrite { @Sendable [core, failures, expires = expiration(nil)] in
      do throws(TableError) {
        _ = try core.store(element, value, cost: nil, expires: expires, if: .always, timeout: nil)
        return {}
      } catch {
        return { failures.add(error) }
      }
    }
  }

  /// Blocks until every write is done that was submitted before and not waited for. `errorHandler` may be called with a failure a
  /// moment later.
  /// - Parameter timeout: nil = the table's. The writes go on when it is over.
  /// - Throws: `timedOut`; `wouldDeadlock` in a section of the table, unless there is nothing to wait for.
  public func flush(timeout: Duration? = nil) throws(TableError) {
    try core.queue.checkProcess()
    // The queue may also hold the job by which this process tells the table of its hits. A flush does not wait for that job.
    if core.writesOnTheWay.load(ordering: .acquiring) != 0 { try core.queue.waitUntilEmpty(timeout: timeout) }
  }

  /// Removes an element. A process that is just computing it returns the value to its caller and does not store it: the value may
  /// be from before.
  ///
  /// Waits as `set(_:_:cost:expires:if:timeout:)` does.
  /// - Returns: whether it was there and had not expired.
  /// - Throws: `typeMismatch` if something else has the cache's name; what a barrier throws.
  @discardableResult @inlinable
  public func remove(_ key: Key, timeout: Duration? = nil) throws(TableError) -> Bool {
    try core.awaitWrites(timeout)
    return try unsafe withElementKey(key) { bytes throws(TableError) in
      try unsafe core.remove(bytes, timeout: timeout)
    }
  }

  /// Removes all elements: in one barrier or, if one cannot take so many, in several. A value that is just being computed
  /// is not stored.
  ///
  /// Waits as `set(_:_:cost:expires:if:timeout:)` does, for each barrier. If it throws after the first, some elements are gone.
  /// - Throws: as `remove(_:timeout:)`.
  public func removeAll(timeout: Duration? = nil) throws(TableError) {
    try core.awaitWrites(timeout)
    try core.removeAll(timeout: timeout)
  }

  /// The key in the table.
  func element(_ key: Key) -> [UInt8] { unsafe withElementKey(key) { unsafe [UInt8]($0) } }

  /// Calls `body` with the key in the table.
  @inlinable @inline(__always)
  func withElementKey<R, E: Error>(_ key: Key, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(core) {} }
    return try unsafe key.withElementKey { bytes throws(E) in
      try unsafe PrefixedKey(core.elementPrefix, bytes).withKeyBytes(body)
    }
  }

  @inlinable
  func expiration(_ expires: Expiration?) -> Expiration {
    expires ?? timeToLive.map { .after($0) } ?? .never
  }
}

extension CacheCore {
  @inlinable @inline(__always)
  func noteHit(_ hash: UInt64) {
    guard let uncountedHits else { return }
    let version = segment.with { $0.committed }
    if uncountedHits.with({ $0.note(hash, version: version) }) { flushHitsLater() }
  }

  @inlinable @inline(__always)
  func hash(_ key: UnsafeRawBufferPointer) -> UInt64 { segment.with { unsafe $0.hash(key) } }
}
