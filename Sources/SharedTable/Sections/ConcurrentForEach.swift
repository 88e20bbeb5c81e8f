import CShims
import Glibc
import SharedMemory
import Synchronization
import TableEngine

extension ReadView {
  /// Visits every key that begins with `prefix`, each exactly once, by several threads at a time, and returns when all
  /// were visited: ``forEach(prefix:_:)`` in the manner of `DispatchQueue.concurrentPerform`.
  ///
  /// All threads see this view's version, whatever is written meanwhile (G1), and judge expiry by one instant. The calling
  /// thread is one of them. The others are started for the call and join the calling thread's section, so they wait for nobody, in the
  /// rwlock variant not even behind a writer that waits. On every thread `body` runs in a read section of the table: its reads
  /// are of this version, and barriers throw `wouldDeadlock`.
  ///
  /// Threads take the table in partitions: the keys of a sub-table, some thousand, or less where the table is small. An observer's
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
    let count = threads ?? ConcurrentForEach.processors
    guard count > 0 else {
      throw TableError(.invalid, table: table.name, "a table cannot be visited by \(count) threads; ask for 1 or more")
    }
    let bounded = min(count, ConcurrentForEach.mostThreads)
    let bytes = unsafe prefix.withKeyBytes { unsafe [UInt8]($0) }
    try ConcurrentForEach(table, section, prefix: bytes, threads: bounded, body).run(threads: bounded)
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

/// One concurrent iteration: several threads that share a read section, and the partitions of the table they take in turn.
///
/// Threads of its own, and not Dispatch's: they are there when they are needed, whatever else the process does; a body
/// that blocks holds up nobody else's work; and a child forked by a body does not wait for threads that stayed behind.
final class ConcurrentForEach: Sendable {
  typealias Body = @Sendable (_ key: RawSpan, _ entry: EntryView) throws -> Void

  /// More threads than this are not made, whatever is asked for: each takes a slot of the table.
  static let mostThreads = 256
  /// As many threads as work at once.
  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  private let table: Table
  private let shared: SharedSection
  private let partitions: ScanPartitioner
  private let prefix: [UInt8]
  private let body: Body
  #if DEBUG || CheckedReads
    /// The check of all threads, which take turns.
    private let check: Locked<CheckedReadWatch>?
  #endif
  /// Somebody has failed. Relaxed: others stop a little later at worst.
  private let isOver = Atomic(false)
  private let failure = Locked<(any Error)?>(nil)

  init(_ table: Table, _ section: ReadSection, prefix: [UInt8], threads: Int, _ body: @escaping Body) {
    self.table = table
    self.prefix = prefix
    self.body = body
    shared = table.segment.share(section, table.clock)
    partitions = ScanPartitioner(table.segment, shared, threads: threads)
    #if DEBUG || CheckedReads
      check = section.check.map { Locked($0) }
    #endif
  }

  /// Visits everything, with the calling thread as one of the threads; returns when all of them are done.
  /// - Throws: the first error that any of them met.
  func run(threads: Int) throws {
    // The same section again: an observer's walk of its own, that has met nothing yet.
    let section = try table.beginRead(nil)
    defer { table.segment.endRead(section) }
    let helpers = (1..<threads).compactMap { _ in startHelper() }
    visit(section)
    // The helpers stayed in the parent, with whatever they had locked there.
    guard table.isOfThisProcess else { throw table.named(.forked) }
    for helper in helpers { pthread_join(helper, nil) }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// - Returns: nil if the system gives no thread: then the others do its share.
  private func startHelper() -> pthread_t? {
    let retained = unsafe Unmanaged.passRetained(self)
    do throws(SystemError) {
      return try unsafe ServiceThread.startJoinable(retained.toOpaque()) { argument in
        ServiceThread.name("table-scan")
        unsafe Unmanaged<ConcurrentForEach>.fromOpaque(argument!).takeRetainedValue().help()
        return nil
      }
    } catch {
      unsafe retained.release()
      return nil
    }
  }

  private func help() {
    // Without a slot it cannot be told from a thread outside of any section: the others do its share.
    guard let section = try? table.segment.join(shared) else { return }
    visit(section)
    table.segment.leaveShared(section)
  }

  private func visit(_ section: ReadSection) {
    unsafe prefix.withUnsafeBytes { wanted in
      do throws(EngineError) {
        while goesOn, let partition = partitions.claim() {
          try table.segment.scan(partition, section, table.clock) { found in
            guard goesOn else { return false }
            if unsafe found.hasPrefix(wanted) { show(found) }
            return goesOn
          }
        }
      } catch {
        end(table.named(error))
      }
    }
  }

  private var goesOn: Bool { !isOver.load(ordering: .relaxed) && table.isOfThisProcess }

  private func show(_ found: FoundEntry) {
    #if DEBUG || CheckedReads
      let found = check?.withLock { $0.show(found) } ?? found
    #endif
    do {
      try body(unsafe RawSpan(_unsafeBytes: found.key), EntryView(found))
    } catch {
      end(error)
    }
  }

  private func end(_ error: any Error) {
    // In a child forked by a body the lock may be held by a thread that is not there.
    guard table.isOfThisProcess else { return }
    failure.withLock { $0 = $0 ?? error }
    isOver.store(true, ordering: .relaxed)
  }
}
