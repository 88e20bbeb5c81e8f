import Synchronization
public import TableEngine

/// A cache without its types: bytes in, bytes out, so that nothing generic runs inside a barrier.
@usableFromInline
final class CacheCore: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let names: CacheKeys
  /// The prefix of elements' keys. The names own its memory.
  @usableFromInline let elementPrefix: KeptBytes
  /// The table's, which holds it.
  @usableFromInline let segment: UncountedReference<Segment>
  /// Nil for observers, who cannot tell anybody what they read.
  @usableFromInline let hits: RecentHits?
  /// As ``hits``, for noting a hit: to count a reference would take longer than that.
  @usableFromInline let uncountedHits: UncountedReference<RecentHits>?
  let name: String
  let limit: CacheLimit
  /// Of what nobody waits for in a blocking call. As each write may need several barriers, of jobs only.
  let queue: BarrierQueue
  /// How many writes were submitted and not waited for, and have not ended.
  ///
  /// PAIR cache-writes. Other end: CacheCore.awaitWrites and CacheCore.submitWrite. A write's end is released, and acquired by
  /// whoever finds no write on its way: then it reads a version that has them all. The count goes up in the submitting thread,
  /// before the write is submitted.
  @usableFromInline let writesOnTheWay = Atomic(0)

  init(_ table: Table, _ name: String, limit: CacheLimit) throws(TableError) {
    self.table = table
    self.name = name
    self.limit = limit
    names = try CacheKeys(name, table: table)
    elementPrefix = names.elementPrefix
    segment = unsafe UncountedReference(table.segment)
    guard limit.maximum > 0 else {
      throw TableError(.invalid, table: table.name, "the cache '\(name)' has no room at all; give it a limit above 0")
    }
    queue = BarrierQueue(in: table, subject: "the cache '\(name)'", limit: Self.queueLimit)
    hits = table.isObserver ? nil : RecentHits(elements: limit.expectedCount)
    uncountedHits = hits.map { unsafe UncountedReference($0) }
  }

  /// How many writes may wait before whoever submits the next one does.
  private static let queueLimit = 1024

  // MARK: - Soon

  /// Submits a write that nobody waits for. Blocks only while the queue is full.
  /// - Parameter write: gives what tells of its end, once others may go on.
  func submitWrite(_ write: @escaping @Sendable () -> Announcement) throws(TableError) {
    writesOnTheWay.wrappingAdd(1, ordering: .relaxed)
    do throws(TableError) {
      try queue.submitJobBlocking { @Sendable [self] in
        defer { writesOnTheWay.wrappingSubtract(1, ordering: .releasing) }
        return write()
      }
    } catch {
      writesOnTheWay.wrappingSubtract(1, ordering: .relaxed)
      throw error
    }
  }

  /// What this thread has submitted and not waited for must be seen by what it does next with the cache. One load where
  /// nothing is on its way.
  ///
  /// Not in a section of the table: that shows its own version, whatever is written meanwhile, and a write may be waiting for
  /// its end. Nor in one of these writes, whose value's coding may look into the cache.
  @inlinable @inline(__always)
  func awaitWrites(_ timeout: Duration? = nil) throws(TableError) {
    if writesOnTheWay.load(ordering: .acquiring) != 0 { try awaitWritesOutsideSections(timeout) }
  }

  @usableFromInline @inline(never)
  func awaitWritesOutsideSections(_ timeout: Duration?) throws(TableError) {
    if table.segment.threadSection == .none, !queue.isInOwnJob { try queue.waitUntilEmpty(timeout: timeout) }
  }

  /// As ``awaitWrites(_:)``, for async code: suspends, until the task is cancelled at the latest.
  nonisolated(nonsending) func awaitWritesSuspending() async throws {
    guard writesOnTheWay.load(ordering: .acquiring) != 0 else { return }
    try await queue.runJobUnlessCancelled { () throws(TableError) in }
  }

  // MARK: - Hits

  /// Called now and then by readers, never waits: has the queue tell the table what this process has read.
  @usableFromInline @inline(never)
  func flushHitsLater() {
    guard let hits, hits.takesTurn(version: table.version), !queue.isClosed else { return }
    // Not weakly: an object that was ever referred to so counts its references by a detour, in every hit.
    try? queue.submitJob { @Sendable [self] in try? flushHits() }
  }

  /// Tells the table what this process has read, if elements were added since it last did: only they push others out.
  ///
  /// Nothing is lost if it fails but some knowledge, so errors are nobody's.
  func flushHits() throws(TableError) {
    guard let hits, let head = try readHead(), head.insertions != hits.insertionsAtFlush else { return }
    let version = table.version
    let hashes = hits.hashes(since: hits.versionAtFlush)
    let byPage = Dictionary(grouping: hashes) { CacheHead.page($0, of: head.pageCount) }.values
    var rest = byPage[...]
    while !rest.isEmpty {
      try names.withBarrier(of: table, timeout: min(table.timeout, Self.patience)) { tx throws(TableError) in
        try withLedger(&tx) { tx, ledger throws(TableError) in
          try ledger.tellHits(of: rest.prefix(Self.pagesPerBarrier).joined(), tx)
        }
      }
      rest = rest.dropFirst(Self.pagesPerBarrier)
    }
    hits.markFlushed(version: version, insertions: head.insertions)
  }

  /// How long a flush waits for the table: a process that ends waits for it, and what is not told now is told the next time.
  private static let patience = Duration.milliseconds(100)

  /// Bounds how long other writers wait for a flush: some 50 µs.
  private static let pagesPerBarrier = 64

  /// The head with all that this thread has submitted.
  func currentHead() throws(TableError) -> CacheHead? {
    try awaitWrites()
    return try readHead()
  }

  /// The head as last committed; nil if there is no cache yet.
  /// - Throws: `damaged` until the next write, `typeMismatch`.
  func readHead() throws(TableError) -> CacheHead? {
    let read = try table.withEntry(names.headKey) { found -> Result<CacheHead, TableError> in
      do throws(TableError) { return .success(try self.head(found)) } catch { return .failure(error) }
    }
    return try read?.get()
  }

  /// What lies under the cache's name, as a head.
  /// - Throws: `damaged`; `typeMismatch` if it is no cache's at all.
  func head(_ found: FoundEntry) throws(TableError) -> CacheHead {
    if let head = CacheHead(found) { return head }
    if CacheHead.isOfACache(found) { throw damaged("its head") }
    throw TableError(
      .typeMismatch, table: table.name, "the value of '\(name)' is no cache; choose another name, or remove it")
  }

  func damaged(_ what: String) -> TableError {
    TableError(
      .damaged, table: table.name,
      "the ledger of the cache '\(name)' contradicts itself in \(what); the next write to the cache makes it anew")
  }
}
