#if Etcd
  import History
  import TestSupport

  /// A client of etcd itself, which writes and reads as chance has it, and writes down what came of it.
  struct EtcdClient {
    let history: HostHistory
    let process: Int
    let user: EtcdUser
    var random: SplitMix

    mutating func run() async throws {
      while !history.isOver { try await step() }
    }

    private mutating func step() async throws {
      let key = random.below(HostHistory.keys)
      let value = history.newValue()
      switch random.below(10) {
      case ..<4: try await write([.init(key: key, write: value)])
      case ..<7:
        let other = (key + 1 + random.below(HostHistory.keys - 1)) % HostHistory.keys
        try await write([.init(key: key, write: value), .init(key: other, write: 0)])
      case ..<9:
        guard let seen = try await read()?.accesses[key].condition else { return }
        try await write([.init(key: key, seen, write: value)])
      default: _ = try await read()
      }
    }

    private func write(_ accesses: [Operation.Access]) async throws {
      let begin = HostHistory.now
      var operation = Operation(process: process, .barrier, .pending, begin: begin, end: nil, accesses)
      var expected: (key: String, value: String?)?
      if case .equals(let value) = accesses[0].condition {
        expected = ("app/" + HostHistory.name(accesses[0].key), value == 0 ? nil : "\(value)")
      }
      let changes = accesses.map { access in
        (key: "app/" + HostHistory.name(access.key), value: access.write.flatMap { $0 == 0 ? nil : "\($0)" })
      }
      if let answer = try await user.commitOnce(changes, if: expected) {
        operation.end = HostHistory.now
        operation.outcome = .done
        operation.version = UInt64(answer.revision)
        if !answer.isMade {
          guard case .equals(let value) = accesses[0].condition else { throw Failure("refused without a condition") }
          operation = Operation(
            process: process, .single, begin: begin, end: operation.end, [.init(key: accesses[0].key, .differs(value))])
        }
      }
      history.add(operation)
    }

    /// A linearizable read: it is held to all that any host has shown before it.
    private func read() async throws -> Operation? {
      let begin = HostHistory.now
      guard let answer = try await user.contentsOnce("app/") else { return nil }
      let accesses = try (0..<HostHistory.keys).map { key in
        Operation.Access(key: key, .equals(try HostHistory.value(answer.contents[HostHistory.name(key)])))
      }
      let operation = Operation(
        process: process, .section, begin: begin, end: HostHistory.now, version: UInt64(answer.revision), accesses)
      history.add(operation)
      return operation
    }
  }
#endif
