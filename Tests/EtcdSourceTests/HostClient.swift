#if Etcd
  import Glibc
  import History
  import SharedTable
  import TestSupport

  /// A client of Redis at one host's daemon, which writes and reads as chance has it, and writes down what came of it.
  struct HostClient {
    let history: HostHistory
    let process: Int
    let host: Int
    let socket: String
    let table: Table
    var random: SplitMix
    private var client: RedisClient?

    init(_ history: HostHistory, process: Int, host: Int, socket: String, table: Table, seed: UInt64) {
      self.history = history
      self.process = process
      self.host = host
      self.socket = socket
      self.table = table
      random = SplitMix(seed: seed)
    }

    /// Until the history is over. A connection that is lost is made anew.
    mutating func run() throws {
      while !history.isOver {
        do {
          if client == nil { client = try RedisClient(socket) }
          try step(client!)
        } catch  where error is RedisClient.Failure || error is NotServed {
          client = nil
          usleep(2000)
        }
      }
    }

    /// The daemon has just been started and has not opened the table yet.
    private struct NotServed: Error {}

    private mutating func step(_ client: RedisClient) throws {
      let key = random.below(HostHistory.keys)
      switch random.below(20) {
      case ..<5: try set(client, key)
      case ..<10: try setTwo(client, key, (key + 1 + random.below(HostHistory.keys - 1)) % HostHistory.keys)
      case ..<14: try compareAndSet(client, key)
      case ..<16: try setIfAbsent(client, key)
      default: try readSection(client)
      }
      // What was written is in the table as soon as the daemon has said so.
      try history.readSection(of: table, host: host, process: process)
    }

    // MARK: - Writes

    private func set(_ client: RedisClient, _ key: Int) throws {
      let value = history.newValue()
      try write([.init(key: key, write: value)]) { try client.call("SET", HostHistory.name(key), "\(value)") }
    }

    /// Two keys at once; now and then the second is removed.
    private mutating func setTwo(_ client: RedisClient, _ first: Int, _ second: Int) throws {
      let value = history.newValue()
      let other = random.below(3) == 0 ? 0 : history.newValue()
      let name = HostHistory.name(second)
      _ = try client.call("MULTI")
      _ = try client.call("SET", HostHistory.name(first), "\(value)")
      _ = other == 0 ? try client.call("DEL", name) : try client.call("SET", name, "\(other)")
      try write([.init(key: first, write: value), .init(key: second, write: other)]) { try client.call("EXEC") }
    }

    private func compareAndSet(_ client: RedisClient, _ key: Int) throws {
      let name = HostHistory.name(key)
      _ = try client.call("WATCH", name)
      let answer = try client.call("GET", name)
      if answer.first == "-" { throw NotServed() }
      let found = try HostHistory.value(Self.text(answer))
      let value = history.newValue()
      _ = try client.call("MULTI")
      _ = try client.call("SET", name, "\(value)")
      try write([.init(key: key, .equals(found), write: value)]) { try client.call("EXEC") }
    }

    private func setIfAbsent(_ client: RedisClient, _ key: Int) throws {
      let value = history.newValue()
      try write([.init(key: key, .equals(0), write: value)]) {
        try client.call("SETNX", HostHistory.name(key), "\(value)")
      }
    }

    /// Calls, and writes down what the answer means. A condition, if there is one, is the first access's.
    private func write(_ accesses: [Operation.Access], _ call: () throws -> String) throws {
      let begin = HostHistory.now
      var operation = Operation(process: process, .barrier, .pending, begin: begin, end: nil, accesses)
      let answer: String
      do { answer = try call() } catch {
        history.add(operation)
        throw error
      }
      operation.end = HostHistory.now
      if answer.contains("MIRRORUNSURE") {
        // It may take effect at any later time, too.
        operation.end = nil
      } else if answer.contains("MIRRORAWAY") || answer.contains("MIRRORBUSY") {
        operation.outcome = .undone
      } else if answer.contains("MIRRORLATE") {
        operation.outcome = .done
      } else if answer == "nil" || answer == ":0" {
        // A watched key was changed since WATCH, perhaps before it was read; or a key was there. Neither says what is there at the end.
        guard accesses.contains(where: { $0.condition != .always }) else {
          return history.fail("process \(process)'s write without a condition was refused")
        }
        return
      } else if answer.first == "-" || answer.contains("[-") || answer.contains(" -") {
        return history.fail("process \(process) was answered '\(answer)'")
      } else {
        (operation.outcome, operation.replica) = (.done, host)
      }
      history.add(operation)
    }

    // MARK: - Reads

    /// One command is one section; the table's state is read as any key.
    private func readSection(_ client: RedisClient) throws {
      let names = (0..<HostHistory.keys).map(HostHistory.name) + [Table.Upstream.key]
      let begin = HostHistory.now
      let answer = try client.call((["MGET"] + names).map { Array($0.utf8) })
      guard answer.first == "[" else { throw NotServed() }
      let parts = answer.dropFirst().dropLast().split(separator: " ", maxSplits: HostHistory.keys).map(String.init)
      try history.addSection(
        Self.text(parts[HostHistory.keys]), parts[..<HostHistory.keys].map(Self.text), begin: begin, host: host,
        process: process)
    }

    /// The text of an answer in its short form.
    private static func text(_ answer: String) -> String? {
      answer == "nil" ? nil : String(answer.dropFirst().dropLast())
    }
  }
#endif
