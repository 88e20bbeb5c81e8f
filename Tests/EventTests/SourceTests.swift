import Dispatch
import Glibc
import SharedMemory
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Changes as a source on a queue.
@Suite struct SourceTests {
  /// What the handlers were told.
  private final class Told: Sendable {
    let names = Mutex<[String]>([])
    let ended = DispatchSemaphore(value: 0)
    let failure = Mutex<TableError.Code?>(nil)
    private let news = DispatchSemaphore(value: 0)

    func listen(to source: TableChangeSource) {
      source.setEventHandler { change in
        self.names.withLock { $0.append(change.keyText ?? "?") }
        self.news.signal()
      }
      source.setCancelHandler { error in
        self.failure.withLock { $0 = error?.code }
        self.ended.signal()
      }
    }

    func expect(_ names: [String]) {
      for _ in names { #expect(news.wait(timeout: .now() + 30) == .success) }
      #expect(self.names.withLock { $0 } == names)
      self.names.withLock { $0 = [] }
    }
  }

  private let queue = DispatchQueue(label: "test.source")

  @Test(arguments: Table.Variant.allCases)
  func changesComeInOrderWhileItRuns(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let told = Told()
      let source = table.makeChangeSource(prefix: "k", queue: queue)
      told.listen(to: source)
      try table.set("k0", 0)
      source.activate()
      told.expect(["k0"])
      let writer = try worker(table)
      for round in 1...20 {
        try writer.ask("set k\(round) x", expecting: "ok")
        told.expect(["k\(round)"])
      }
      source.suspend()
      for name in ["k1", "other", "k2"] { try writer.ask("set \(name) x", expecting: "ok") }
      queue.sync {}
      told.expect([])
      source.resume()
      told.expect(["k1", "k2"])
      for index in 0..<1000 { try table.set("k \(index)", index) }
      told.expect((0..<1000).map { "k \($0)" })
      source.cancel()
      #expect(told.ended.wait(timeout: .now() + 30) == .success)
      #expect(told.failure.withLock { $0 } == nil)
      try table.set("k1", 1)
      queue.sync {}
      told.expect([])
      #expect(source.isCancelled)
      try writer.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func cancellationIsToldOnceWhateverItsState(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      for state in 0..<4 {
        let told = Told()
        let source = table.makeChangeSource(queue: queue)
        told.listen(to: source)
        if state > 0 { source.activate() }
        if state == 2 { source.suspend() }
        if state == 3 { queue.sync {} }
        source.cancel()
        source.cancel()
        #expect(told.ended.wait(timeout: .now() + 30) == .success)
        queue.sync {}
        #expect(told.ended.wait(timeout: .now()) == .timedOut)
      }
    }
  }

  @Test func whoCancelsItNeedNotKeepIt() throws {
    try withSmallTable(.rcu) { table in
      let told = Told()
      queue.suspend()
      do {
        let source = table.makeChangeSource(queue: queue)
        told.listen(to: source)
        source.activate()
        source.cancel()
      }
      queue.resume()
      #expect(told.ended.wait(timeout: .now() + 30) == .success)
    }
  }

  @Test func anUndoneSuspensionDoesNotActivateIt() throws {
    try withSmallTable(.rcu) { table in
      let told = Told()
      let source = table.makeChangeSource(queue: queue)
      told.listen(to: source)
      try table.set("early", 1)
      source.suspend()
      source.resume()
      queue.sync {}
      told.expect([])
      source.resume()
      told.expect(["early"])
    }
  }

  @Test func aDropEndsIt() throws {
    try withSmallTable(.rcu) { table in
      let told = Told()
      let source = table.makeChangeSource(queue: queue)
      told.listen(to: source)
      source.activate()
      try table.set("key", 1)
      told.expect(["key"])
      try Table.drop(table.name)
      #expect(told.ended.wait(timeout: .now() + 30) == .success)
      #expect(told.failure.withLock { $0 } == .unlinked)
    }
  }

  @Test func withoutItsLastReferenceItIsGone() throws {
    try withSmallTable(.rcu) { table in
      final class Witness: Sendable {}
      weak var witness: Witness?
      do {
        let object = Witness()
        witness = object
        let source = table.makeChangeSource(queue: queue)
        source.setEventHandler { _ in withExtendedLifetime(object) {} }
        source.activate()
        queue.sync {}
      }
      queue.sync {}
      let isGone = try goOn(until: { witness == nil }) { try table.set("key", 1) }
      #expect(isGone)
    }
  }

  /// Not on the watcher's thread, which others wait for: their objects may do anything at their end.
  @Test func whatItsHandlersHoldGoesWhereItIsLetGoOrOnTheQueue() throws {
    /// Counts those that end on another thread than their maker's, and not on the queue.
    final class Witness: Sendable {
      static let queueKey = DispatchSpecificKey<Bool>()
      static let strays = Atomic(0)
      let maker = pthread_self()
      deinit {
        guard pthread_self() != maker, DispatchQueue.getSpecific(key: Self.queueKey) == nil else { return }
        Self.strays.add(1, ordering: .relaxed)
      }
    }
    queue.setSpecific(key: Witness.queueKey, value: true)
    try withSmallTable(.rcu) { table in
      for round in 0..<2000 as Range<UInt64> {
        var source: TableChangeSource? = table.makeChangeSource(queue: queue)
        source!.setEventHandler { [witness = Witness()] _ in withExtendedLifetime(witness) {} }
        source!.activate()
        queue.sync {}
        try table.set("key", 1)
        // At another moment of the watcher's turn in each round.
        let moment = HostClock.monotonicNanoseconds + round % 200 * 500
        while HostClock.monotonicNanoseconds < moment {}
        source = nil
      }
      queue.sync {}
    }
    #expect(Witness.strays.load(ordering: .relaxed) == 0)
  }

  @Test func inAForkedChildItHasEnded() throws {
    try withSmallTable(.rcu) { table in
      try worker(table).ask("fork-source 200", expecting: #"["true true"], here false"#)
    }
  }

  @Test func withoutItsLastReferenceItIsGoneAlsoWhileChangesCome() throws {
    try withSmallTable(.rcu) { table in
      weak var left: TableChangeSource?
      let news = DispatchSemaphore(value: 0)
      do {
        let source = table.makeChangeSource(queue: queue)
        left = source
        // Each change makes the next one.
        source.setEventHandler { _ in
          _ = try? table.set("key", 1)
          news.signal()
        }
        source.activate()
        try table.set("key", 1)
        #expect(news.wait(timeout: .now() + 30) == .success)
      }
      let isGone = eventually { left == nil }
      #expect(isGone)
      left?.cancel()
    }
  }
}
