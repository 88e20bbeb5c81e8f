import CShims
import Glibc
import SharedMemory
import Synchronization
import TableEngine

/// One concurrent iteration: several threads that share a read section, and the parts of the table they take in turn.
///
/// Threads of its own, and not Dispatch's: they are there when they are needed, whatever else the process does; a body
/// that blocks holds up nobody else's work; and a child forked by a body does not wait for threads that stayed behind.
final class ConcurrentScan: Sendable {
  typealias Body = @Sendable (_ key: RawSpan, _ entry: EntryView) throws -> Void

  /// More threads than this are not made, whatever is asked for: each takes a slot of the table.
  static let mostThreads = 256
  /// As many threads as work at once.
  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  private let table: Table
  private let shared: SharedSection
  private let parts: ScanParts
  private let prefix: [UInt8]
  private let body: Body
  #if DEBUG || CheckedReads
    /// One for all threads, which take turns.
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
    parts = ScanParts(table.segment, shared, threads: threads)
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
    guard table.isUsable else { throw table.named(.forked) }
    for helper in helpers { pthread_join(helper, nil) }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// - Returns: nil if the system gives no thread: then the others do its share.
  private func startHelper() -> pthread_t? {
    let retained = unsafe Unmanaged.passRetained(self)
    do throws(SystemError) {
      return try unsafe ServiceThread.startJoinable(retained.toOpaque()) { argument in
        ServiceThread.name("table-scan")
        unsafe Unmanaged<ConcurrentScan>.fromOpaque(argument!).takeRetainedValue().help()
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
        while goesOn, let part = parts.claim() {
          try table.segment.scan(part, section, table.clock) { found in
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

  private var goesOn: Bool { !isOver.load(ordering: .relaxed) && table.isUsable }

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
    guard table.isUsable else { return }
    failure.withLock { $0 = $0 ?? error }
    isOver.store(true, ordering: .relaxed)
  }
}
