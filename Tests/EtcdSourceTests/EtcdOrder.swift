#if Etcd
  import History

  /// The order that etcd gave to the writes of a history: which of them it made, as which revisions.
  struct EtcdOrder {
    private(set) var problems: [String] = []
    /// By a value that was written: the revision, and what else it changed.
    private var revisions: [UInt64: Int64] = [:]
    private var changes: [Int64: [Int: UInt64]] = [:]
    private var explained: Set<Int64> = []

    init(_ events: [EtcdUser.Event]) {
      for event in events {
        guard let key = Int(event.key.dropFirst()), let value = try? HostHistory.value(event.value) else {
          problems.append("revision \(event.revision) is none of this history's: \(event.key)")
          continue
        }
        if value != 0 { revisions[value] = event.revision }
        changes[event.revision, default: [:]][key] = value
      }
    }

    /// Gives each write its revision and settles what got no answer: it was made, or it was not.
    mutating func settle(_ operations: [Operation]) -> [Operation] {
      var settled = operations
      for index in settled.indices
      where settled[index].kind == .barrier && settled[index].accesses.contains(where: \.isWrite) {
        settle(&settled[index])
      }
      for (revision, changes) in changes.sorted(by: { $0.key < $1.key }) where !explained.contains(revision) {
        problems.append("nobody asked for revision \(revision): \(changes)")
      }
      Self.bound(&settled)
      return settled
    }

    private mutating func settle(_ operation: inout Operation) {
      let values = operation.accesses.compactMap(\.write).filter { $0 != 0 }
      guard let revision = values.compactMap({ revisions[$0] }).first else {
        if operation.outcome == .done {
          problems.append("\(operation) was answered as made, and etcd has nothing of it")
        }
        operation.outcome = .undone
        return
      }
      if operation.outcome == .undone {
        problems.append("\(operation) was answered as not made, and etcd has it as revision \(revision)")
      }
      if let known = operation.version, known != UInt64(revision) {
        problems.append("\(operation) is revision \(revision)")
      }
      if !explained.insert(revision).inserted { problems.append("revision \(revision) is also of \(operation)") }
      let asked = Dictionary(uniqueKeysWithValues: operation.accesses.compactMap { a in a.write.map { (a.key, $0) } })
      for (key, value) in changes[revision]! where asked[key] != value {
        problems.append("\(operation) did not ask for key \(key) := \(value), which revision \(revision) made")
      }
      // A removal of what is not there is no event.
      for (key, value) in asked where value != 0 && changes[revision]![key] != value {
        problems.append("revision \(revision) is only a part of \(operation)")
      }
      operation.version = UInt64(revision)
      operation.outcome = .done
    }

    /// What was made and got no answer had been made when an operation of the same or a later revision returned. Else each would
    /// stay open to the end, and the search of orders would grow with their number.
    private static func bound(_ operations: inout [Operation]) {
      let returned = operations.filter { $0.end != nil && $0.outcome == .done && $0.version != nil }
        .sorted { $0.version! > $1.version! }
      var ends: [(version: UInt64, end: UInt64)] = []
      for operation in returned { ends.append((operation.version!, min(operation.end!, ends.last?.end ?? .max))) }
      for index in operations.indices
      where operations[index].end == nil && operations[index].outcome == .done {
        let version = operations[index].version!
        // The versions fall: the last one that is not below is of all that are not.
        if let last = ends.lastIndex(where: { $0.version >= version }) {
          operations[index].end = max(operations[index].begin, ends[last].end)
          // It returned nothing: no copy was to show it.
          operations[index].replica = nil
        }
      }
    }
  }

  extension Operation.Access {
    fileprivate var isWrite: Bool { write != nil }
  }
#endif
