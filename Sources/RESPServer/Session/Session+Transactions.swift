import SharedTable

/// MULTI, EXEC, DISCARD, WATCH, UNWATCH.
extension Session {
  func enqueue(_ command: Command, _ request: Request) {
    if let error = refusal(command, request) {
      queue!.isSpoiled = true
      return fail(error)
    }
    queue!.append(command, request)
    reply.simple("QUEUED" as StaticString)
  }

  /// Why a command cannot be part of a transaction; Redis takes more.
  private func refusal(_ command: Command, _ request: Request) -> CommandError? {
    if !queue!.hasRoom { return CommandError("ERR the transaction is too large; at most 64 MiB are queued") }
    guard case .connection(let kind) = command.kind else { return nil }
    switch kind {
    case .save, .shutdown: return CommandError("ERR Command not allowed inside a transaction")
    case .waitaof: return CommandError("ERR WAITAOF inside MULTI is not supported: nothing is on the disk before EXEC")
    case .select:
      // What is no table's fails when it is carried out.
      guard let selected = try? server.database(request[1]), selected !== database else { return nil }
      return CommandError("ERR SELECT of another table inside MULTI is not supported: no barrier spans two tables")
    case .flushall where server.databases.count > 1:
      return CommandError("ERR FLUSHALL of several tables inside MULTI is not supported: no barrier spans two tables")
    default: return nil
    }
  }

  func multi() throws(CommandError) {
    if queue != nil { throw CommandError("ERR MULTI calls can not be nested") }
    queue = CommandQueue()
    reply.ok()
  }

  func discard() throws(CommandError) {
    if queue == nil { throw CommandError("ERR DISCARD without MULTI") }
    leaveTransaction()
    reply.ok()
  }

  func leaveTransaction() {
    queue = nil
    unwatch()
  }

  func unwatch() {
    watched = []
    watchedBytes = 0
    watchedNames = []
    watchedAbsent = []
  }

  func watch(_ request: Request, _ patience: Duration) throws {
    if queue != nil { throw CommandError("ERR WATCH inside MULTI is not allowed") }
    guard watched.count + request.count - 1 <= 1 << 20 else {
      throw CommandError("ERR too many keys are watched; at most \(1 << 20)")
    }
    guard (1..<request.count).reduce(watchedBytes, { $0 + request[$1].count }) <= CommandQueue.mostBytes else {
      throw CommandError("ERR too many keys are watched; they may have 64 MiB")
    }
    let database = database
    let generation = database.generation
    let table = try table()
    let (version, seen) = try table.read(timeout: patience) { view in
      var seen: [WatchedKey] = []
      for index in 1..<request.count {
        let key = request[index]
        seen.append(
          WatchedKey(
            database: database, generation: generation, key: key.array, version: try view.version(key)))
      }
      return (view.version, seen)
    }
    // A key that is watched already counts from its first WATCH on.
    let new = seen.filter { watchedNames.insert(WatchedName(database: database.index, key: $0.key)).inserted }
    watched += new
    watchedBytes += new.reduce(0) { $0 + $1.key.count }
    watchAbsent(new.filter { $0.version == 0 }.map(\.key), of: table, at: version)
    reply.ok()
  }

  /// A table's log is read once for all of its keys, however many WATCHes have named them.
  private func watchAbsent(_ keys: [[UInt8]], of table: Table, at version: UInt64) {
    if keys.isEmpty { return }
    if let index = watchedAbsent.firstIndex(where: { $0.table === table }) {
      watchedAbsent[index].add(keys, at: version)
    } else {
      watchedAbsent.append(AbsentWatch(keys, of: table, database, at: version))
    }
  }

  func exec(_ patience: Duration) throws {
    guard let queue else { throw CommandError("ERR EXEC without MULTI") }
    if queue.isSpoiled {
      leaveTransaction()
      throw CommandError("EXECABORT Transaction discarded because of previous errors.")
    }
    let goesOn: Bool
    do {
      // Before any look at a table: one that has to wait would go to the table's lane, and this request would stay there.
      if patience == .zero, !queue.onlyReads, isForwarded { throw NeedsLane(lane: database.forwardingLane) }
      goesOn = try holdsElsewhere(patience) && run(queue, patience)
    } catch {
      // What is still to be carried out keeps its transaction.
      if laterAttempt(after: error, on: database, patience) == nil { leaveTransaction() }
      throw error
    }
    if !goesOn {
      reply.rollBack(to: replyStart)
      reply.nullArray()
    }
    leaveTransaction()
  }

  /// Keys of other tables are looked at before the barrier, and most of the log in which absent ones would be.
  private func holdsElsewhere(_ patience: Duration) throws -> Bool {
    // Versions of a table that was made anew say nothing of those before.
    if watched.contains(where: { $0.generation != $0.database.generation }) { return false }
    for index in watchedAbsent.indices where try watchedAbsent[index].readOnUntilAnyCame() { return false }
    for watched in watched where watched.database !== database {
      let version = try watched.database.table().read(timeout: patience) { view in
        try watched.key.withBytes { try view.version($0) }
      }
      if version != watched.version { return false }
    }
    return true
  }

  /// Keys of other tables once more, in the section in which the transaction runs: the wait for it may have been long. A look that would have to
  /// wait counts as a change: the server cannot tell whether there was one, and the client tries again.
  private var holdElsewhereStill: Bool { (try? holdsElsewhere(.zero)) ?? false }

  /// - Returns: false if a watched key was written to meanwhile, by whomever.
  private func run(_ queue: CommandQueue, _ patience: Duration) throws -> Bool {
    hasTakenLong = true
    // Within, commands are carried out and not queued.
    self.queue = nil
    defer { self.queue = queue }
    if queue.onlyReads {
      return try table().read(timeout: patience) { view in
        guard try holds(view), holdElsewhereStill else { return false }
        try answerEach(of: queue) { command, request in
          switch command.kind {
          case .read(let kind): try kind.run(request, view, &reply, visible: visibleKeys)
          case .connection(.dbsize): try answerCount(of: view)
          case .connection(let kind): try carryOut(kind, request, .zero)
          case .write: throw CommandError("ERR a command that writes is in a transaction that only reads")
          }
        }
        return true
      }
    }
    if isForwarded { return try forward(queue, patience) }
    noteWrite(database)
    unsent = []
    defer { unsent = nil }
    let goesOn = try runInBarrier(queue, patience)
    for (channel, message) in unsent ?? [] {
      for delivery in server.broker.deliveries(of: message, on: channel) { delivery.deliver() }
    }
    return goesOn
  }

  private func runInBarrier(_ queue: CommandQueue, _ patience: Duration) throws -> Bool {
    let start = replyStart
    do {
      return try table().barrier(timeout: patience) { tx in try run(queue, in: &tx, isLast: !queue.isRepeatable) }
    } catch let error as TableError where error.mayFitInNextBarrier && queue.isRepeatable {
      // Nothing has happened; a barrier after one that found the table full begins by reclaiming.
      reply.rollBack(to: start)
      replyStart = start
      return try table().barrier(timeout: patience) { tx in try run(queue, in: &tx, isLast: true) }
    }
  }

  /// - Parameter isLast: no other barrier is tried if the table is full: that is then the answer of the command that met it.
  func run<S: WriteSection & ~Copyable & ~Escapable>(
    _ queue: CommandQueue, in tx: inout S, isLast: Bool
  ) throws -> Bool {
    guard try holds(tx), holdElsewhereStill else { return false }
    try answerEach(of: queue, unless: { !isLast && ($0 as? TableError)?.mayFitInNextBarrier == true }) {
      command, request in
      switch command.kind {
      case .read(let kind): try kind.run(request, tx, &reply, visible: visibleKeys)
      case .write(let kind): try kind.run(request, &tx, &reply)
      case .connection(.flushall): try WriteCommand.flushdb.run(request, &tx, &reply)
      case .connection(.dbsize): try answerCount(of: tx)
      case .connection(let kind): try carryOut(kind, request, .zero)
      }
    }
    return true
  }

  /// Answers each command of a transaction. The error of one is its answer, and takes back nothing of the others.
  ///
  /// Nobody else writes to the table meanwhile, and the event loop answers nobody if the section is on it. So of commands that may take
  /// long the first is always carried out, and another one only as long as the transaction has not taken long. Writes are carried out
  /// however long they take: a transaction of which the first half were made would be none.
  /// - Parameter endsAll: of an error: it ends the transaction instead, and is thrown.
  private func answerEach(
    of queue: CommandQueue, unless endsAll: (any Error) -> Bool = { _ in false },
    _ answer: (Command, Request) throws -> Void
  ) throws {
    let start = replyStart
    defer { replyStart = start }
    reply.array(queue.entries.count)
    let begin = ContinuousClock.now
    var hasRunLongOne = false
    for entry in queue.entries {
      replyStart = reply.position
      do {
        try reply.room(for: 0)
        if entry.command.mayTakeLong {
          if hasRunLongOne, ContinuousClock.now - begin > server.options.longestTransaction {
            throw CommandError(
              "ERR the transaction has taken a second already, and others wait for it: give '\(entry.command.name)' outside of "
                + "MULTI, or earlier in it")
          }
          hasRunLongOne = true
        }
        try entry.request.withRequest { request in try answer(entry.command, request) }
      } catch {
        if endsAll(error) { throw error }
        fail(error)
      }
    }
  }

  /// How many keys the section sees.
  private func answerCount<S: Section & ~Copyable & ~Escapable>(of section: borrowing S) throws {
    var count = 0
    try section.forEachKey { _ in
      count += 1
      return true
    }
    reply.integer(count)
  }

  /// Whether the watched keys of this table are as they were.
  private func holds<S: Section & ~Copyable & ~Escapable>(_ section: borrowing S) throws -> Bool {
    for watched in watched where watched.database === database {
      let version = try watched.key.withBytes { try section.version($0) }
      if version != watched.version { return false }
    }
    for index in watchedAbsent.indices where watchedAbsent[index].database === database {
      if try watchedAbsent[index].readOnUntilAnyCame() { return false }
    }
    return true
  }
}
