#if Etcd
  import History
  import SharedMemory
  import SharedTable
  import Synchronization

  /// What clients of etcd, clients of the hosts' daemons and readers of the hosts' tables did at one prefix of an etcd, written down as
  /// they did it.
  ///
  /// A version is a revision of etcd. Who wrote through a daemon is not told it: it is learnt from etcd's events afterwards, by the
  /// value, which nobody else writes.
  final class HostHistory: Sendable {
    static let keys = 6

    static func name(_ key: Int) -> String { "k\(key)" }

    /// A value's number; an absent key's is 0.
    static func value(_ text: String?) throws -> UInt64 {
      guard let text else { return 0 }
      guard let value = UInt64(text) else { throw Failure("'\(text)' is no value of this history") }
      return value
    }

    private struct State {
      var operations: [Operation] = []
      /// How many writes each process had answered as made.
      var made: [Int: Int] = [:]
      var lastValue: UInt64 = 0
      var isOver = false
      var failures: [String] = []
    }

    private let state = Mutex(State())

    static var now: UInt64 { HostClock.monotonicNanoseconds }

    var isOver: Bool { state.withLock { $0.isOver } }
    func end() { state.withLock { $0.isOver = true } }

    func newValue() -> UInt64 {
      state.withLock {
        $0.lastValue += 1
        return $0.lastValue
      }
    }

    func add(_ operation: Operation) {
      state.withLock {
        $0.operations.append(operation)
        if operation.kind == .barrier, operation.outcome == .done { $0.made[operation.process, default: 0] += 1 }
      }
    }

    /// Something that may not happen, whatever the history is.
    func fail(_ what: String) { state.withLock { $0.failures.append(what) } }

    func made(by process: Int) -> Int { state.withLock { $0.made[process] ?? 0 } }

    /// One section of a host's table: all keys, and the revision that the table says it is of.
    func readSection(of table: Table, host: Int, process: Int) throws {
      let begin = Self.now
      let (status, values) = try table.read { view in
        (
          try view.get(Table.Upstream.key, as: String.self),
          try (0..<Self.keys).map { try view.get(Self.name($0), as: String.self) }
        )
      }
      try addSection(status, values, begin: begin, host: host, process: process)
    }

    /// Writes down a section that has just ended.
    func addSection(_ status: String?, _ values: [String?], begin: UInt64, host: Int, process: Int) throws {
      let end = Self.now
      guard let status = status.flatMap({ UpstreamStatus(text: $0) }) else {
        throw Failure("host \(host)'s table does not say its revision")
      }
      let accesses = try values.enumerated().map { key, text in
        Operation.Access(key: key, .equals(try Self.value(text)))
      }
      add(
        Operation(
          process: process, .laterSection, begin: begin, end: end, version: UInt64(status.revision), replica: host,
          accesses))
    }

    // MARK: - What it comes to

    /// What is wrong with it.
    /// - Parameter events: all of etcd's from its first revision on.
    func problems(_ events: [EtcdUser.Event]) -> [String] {
      let (operations, failures) = state.withLock { ($0.operations, $0.failures) }
      var etcd = EtcdOrder(events)
      let settled = etcd.settle(operations)
      return failures + etcd.problems + History(settled).problems()
    }

    var summary: String {
      state.withLock { state in
        let pending = state.operations.count { $0.outcome == .pending }
        let undone = state.operations.count { $0.outcome == .undone }
        let sections = state.operations.count { $0.kind == .laterSection }
        return
          "\(state.operations.count) operations: \(sections) sections of tables, \(pending) without an answer, \(undone) refused"
      }
    }
  }
#endif
