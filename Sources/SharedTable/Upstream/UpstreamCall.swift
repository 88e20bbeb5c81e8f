import SharedMemory
import TableEngine

/// One write on its way to the store that a table mirrors. It goes through shmd, which follows that store, by shmd's socket for Redis'
/// clients, and blocks the thread that asked for it.
///
/// A connection serves one attempt: the store's answer takes much longer than to connect, a connection that nobody keeps cannot be found
/// broken by the next call, and a child of `fork()` has none of its parent's.
struct UpstreamCall {
  let table: Table
  let deadline: Deadline

  /// What was sent is waited for a little longer: at the end of the time it is shmd that knows what became of it.
  private static let grace = Duration.seconds(2)
  /// So many commands of a transaction are sent before their answers are read: few enough for the answers to wait in the socket.
  private static let commandsAtOnce = 64

  /// - Throws: `wouldDeadlock` inside a section of the table on this thread: shmd answers when the table shows the write. `unsupported` if
  ///   it is no mirror; `forked`.
  init(_ table: Table, until deadline: Deadline) throws(TableError) {
    self.table = table
    self.deadline = deadline
    do throws(EngineError) {
      // Says at once that it would wait for its own thread.
      _ = try table.segment.waitForCommit(after: 0, timeoutNanoseconds: 0)
    } catch {
      throw table.named(error)
    }
    guard table.isMirror else {
      throw TableError(.unsupported, table: table.name, "it mirrors no other store; write to the table itself")
    }
  }

  // MARK: - Single commands

  func set(_ key: [UInt8], _ value: [UInt8]) throws(TableError) {
    try table.checkUpstreamValue(value)
    guard case .simple("OK") = try command("SET", key, value) else { throw unexpected }
  }

  func remove(_ key: [UInt8]) throws(TableError) -> Bool {
    guard case .integer(let count) = try command("DEL", key), 0...1 ~= count else { throw unexpected }
    return count == 1
  }

  func increment(_ key: [UInt8], by amount: Int64) throws(TableError) -> Int64 {
    guard case .integer(let sum) = try command("INCRBY", key, Array("\(amount)".utf8)) else { throw unexpected }
    return sum
  }

  private func command(
    _ name: String, _ key: [UInt8], _ arguments: [UInt8]...
  ) throws(TableError) -> UpstreamConnection.Answer {
    try table.checkUpstreamKey(key)
    while true {
      do throws(TableError) {
        var connection = try connect()
        try send([[Array(name.utf8), key] + arguments], by: connection)
        return try answer(by: &connection, mayBeWritten: true)
      } catch {
        guard isToBeTriedAgain(error) else { throw error }
      }
    }
  }

  /// Nothing was written, and there is time left.
  private func isToBeTriedAgain(_ error: TableError) -> Bool { error.code == .timedOut && !deadline.isPast }

  // MARK: - Transactions

  /// Runs `body` on the newest revision that the table shows, and anew until what it looked at is what the store has when it takes the
  /// changes.
  func transaction<R>(_ body: (inout UpstreamTransaction) throws -> R) throws -> R {
    while true {
      let (result, draft) = try table.withSection(timeout: deadline.left) { view in
        let draft = UpstreamDraft(of: table)
        var transaction = UpstreamTransaction(view, draft)
        return (try body(&transaction), draft)
      }
      if try draft.isEmpty || commit(draft) { return result }
      if deadline.isPast {
        throw TableError(
          .timedOut, table: table.name,
          "each time, others changed a key that the transaction had read before the store took its changes; nothing was written, try again"
        )
      }
    }
  }

  /// - Returns: false if it is to be run anew; nothing was written.
  private func commit(_ draft: UpstreamDraft) throws(TableError) -> Bool {
    do throws(TableError) {
      var connection = try connect()
      if !draft.seen.isEmpty {
        try expect(["OK"], to: [[Array("WATCH".utf8)] + draft.seen.keys], by: &connection)
        // From here on EXEC notices a change; what came before, this does.
        guard try draft.holds() else { return false }
      }
      let commands = [[Array("MULTI".utf8)]] + draft.commands
      for start in stride(from: 0, to: commands.count, by: Self.commandsAtOnce) {
        let some = Array(commands[start..<min(start + Self.commandsAtOnce, commands.count)])
        let words = some.indices.map { $0 + start == 0 ? "OK" : "QUEUED" }
        try expect(words, to: some, by: &connection)
      }
      return try execute(commands.count - 1, by: &connection)
    } catch {
      guard isToBeTriedAgain(error) else { throw error }
      return false
    }
  }

  /// - Returns: false if a watched key has changed.
  private func execute(_ count: Int, by connection: inout UpstreamConnection) throws(TableError) -> Bool {
    try send([[Array("EXEC".utf8)]], by: connection)
    switch try answer(by: &connection, mayBeWritten: true) {
    case .none: return false
    case .list(count): break
    default: throw unexpected
    }
    for _ in 0..<count {
      // An error among them says of one command what none of these can come to, and nothing of the others.
      switch try anyAnswer(by: &connection, mayBeWritten: true) {
      case .simple, .integer: break
      case .error, .none, .list: throw unexpected
      }
    }
    return true
  }

  /// Sends commands that write nothing by themselves, each of which is to be answered by a word.
  private func expect(
    _ words: [String], to commands: [[[UInt8]]], by connection: inout UpstreamConnection
  ) throws(TableError) {
    try send(commands, by: connection)
    for word in words {
      guard try answer(by: &connection, mayBeWritten: false) == .simple(word) else {
        throw lost(.malformed, mayBeWritten: false)
      }
    }
  }

  // MARK: - The connection

  private func connect() throws(TableError) -> UpstreamConnection {
    guard let status = try table.upstream.status() else {
      throw away("its mirror has not begun, see whether shmd runs")
    }
    guard let path = status.writeSocketPath else {
      throw away(
        "no shmd takes writes to it, give shmd's configuration the key 'resp' with a socket, and the table among its 'tables'"
      )
    }
    guard table.administration.isNamed else { throw table.named(.unlinked) }
    var connection: UpstreamConnection
    do throws(SystemError) {
      connection = try UpstreamConnection(to: path, until: deadline.instant)
    } catch {
      throw refused(path, error)
    }
    try checkPeer(connection, path)
    do throws(TableError) {
      // By its name: which place it has among those that shmd serves may change with shmd's next start.
      try expect(["OK"], to: [[Array("SELECT".utf8), Array("/\(table.name)".utf8)]], by: &connection)
    } catch {
      guard error.code == .upstreamRefused else { throw error }
      throw away("shmd does not serve it at \(path) (\(error.message))")
    }
    return connection
  }

  private func send(_ commands: [[[UInt8]]], by connection: borrowing UpstreamConnection) throws(TableError) {
    do throws(SystemError) {
      try connection.send(commands, until: deadline.instant)
    } catch {
      throw lost(.system(error), mayBeWritten: false)
    }
  }

  /// The answer to a command; an error is thrown.
  private func answer(
    by connection: inout UpstreamConnection, mayBeWritten: Bool
  ) throws(TableError) -> UpstreamConnection.Answer {
    let answer = try anyAnswer(by: &connection, mayBeWritten: mayBeWritten)
    guard case .error(let text) = answer else { return answer }
    throw TableError(answer: text, table: table.name, mayBeWritten: mayBeWritten)
  }

  /// - Parameter mayBeWritten: the answer is one to a command that writes.
  private func anyAnswer(
    by connection: inout UpstreamConnection, mayBeWritten: Bool
  ) throws(TableError) -> UpstreamConnection.Answer {
    let grace = mayBeWritten ? Self.grace.clampedNanoseconds : 0
    let (instant, isNever) = deadline.instant.addingReportingOverflow(grace)
    do throws(UpstreamConnection.Loss) {
      return try connection.answer(until: isNever ? .max : instant)
    } catch {
      throw lost(error, mayBeWritten: mayBeWritten)
    }
  }
}
