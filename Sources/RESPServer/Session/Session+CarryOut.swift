import SharedTable

/// From a request to its answer.
extension Session {
  /// What a request comes to. Finding it changes nothing but what CLIENT LIST shows.
  enum Plan {
    case refused(CommandError)
    /// It is a line of HTTP. A page in somebody's browser may send that to a port of this host, with commands behind it: nothing of it is
    /// carried out, as in Redis.
    case foreign
    case queued(Command)
    case connection(ConnectionCommand)
    case read(ReadCommand)
    case write(WriteCommand)
  }

  /// So many commands, and about so long, share a barrier.
  private static let batchCommands = 256
  private static let batchTime = Duration.milliseconds(1)

  /// Carries out a request, and those behind it that share its barrier.
  /// - Parameter bytes: where the request and those behind it lie; nil for an inline command.
  /// - Returns: the lane that must carry it out, as it would have to wait.
  func carryOut(_ request: Request, in bytes: Bytes?, _ patience: Duration) -> Lane? {
    switch plan(request) {
    case .refused(let error):
      queue?.isSpoiled = true
      if error == .arity("exec") {
        leaveTransaction()
        fail(CommandError("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command"))
      } else {
        fail(error)
      }
      finish()
      return nil
    case .foreign:
      endsConnection = true
      finish()
      return nil
    case .queued(let command):
      enqueue(command, request)
      finish()
      return nil
    case .connection(let command):
      return attempt(patience, finishes: false) {
        try carryOut(command, request, patience)
        if diskWait == nil { finish() }
      }
    case .read(let command):
      return attempt(patience, finishes: false) { try readBurst(command, request, bytes, patience) }
    case .write(let command) where isForwarded:
      if patience == .zero { return database.forwardingLane }
      return attempt(patience) { try forward(command, request, patience) }
    case .write(.flushdb):
      // As long as the table has keys: nothing for the event loop.
      if patience == .zero { return database.lane }
      return attempt(patience) {
        try KeyWrites.checkFlush(request)
        try flush(database, patience)
        reply.ok()
      }
    case .write(let command):
      return attempt(patience, finishes: false) { try batch(command, request, bytes, patience) }
    }
  }

  /// Runs `body`, and answers by its error if it throws one that is to be answered.
  /// - Returns: the lane that must do it.
  private func attempt(_ patience: Duration, finishes: Bool = true, _ body: () throws -> Void) -> Lane? {
    let database = database
    do {
      try body()
      if finishes { finish() }
      return nil
    } catch {
      guard let later = laterAttempt(after: error, on: database, patience) else {
        fail(error)
        finish()
        return nil
      }
      reply.rollBack(to: replyStart)
      switch later {
      case .byLane(let lane): return lane
      case .inMovedTable:
        isSecondAttempt = true
        return nil
      }
    }
  }

  /// How a command is still to be carried out after an error that is not its answer.
  enum LaterAttempt {
    /// By a lane, which may wait.
    case byLane(Lane)
    /// In the table that has the name now, if there is one.
    case inMovedTable
  }

  /// - Parameters:
  ///   - database: on which the command was tried.
  ///   - patience: how long it might wait; a command that may wait is on a lane already.
  /// - Returns: nil if the error is the answer.
  func laterAttempt(after error: any Error, on database: Database, _ patience: Duration) -> LaterAttempt? {
    if let error = error as? NeedsLane { return .byLane(error.lane) }
    guard let error = error as? TableError else { return nil }
    return switch error.code {
    case .timedOut where patience == .zero, .busy where patience == .zero: .byLane(database.lane)
    case .unlinked where !isSecondAttempt && letGoOfMovedTable(): .inMovedTable
    default: nil
    }
  }

  func plan(_ request: Request) -> Plan {
    guard let command = unsafe commands.find(request[0]) else {
      return request[0].isWord("POST") || request[0].isWord("HOST:") ? .foreign : .refused(.unknown(request))
    }
    return unsafe command._withUnsafeGuaranteedRef { plan($0, request) }
  }

  private func plan(_ command: Command, _ request: Request) -> Plan {
    if let error = refusal(of: command, request) { return .refused(error) }
    if queue != nil, !command.isOfTransactions { return .queued(command) }
    return switch command.kind {
    case .connection(let kind): .connection(kind)
    case .read(let kind): .read(kind)
    case .write(let kind): .write(kind)
    }
  }

  /// What ``plan(_:)`` finds, for the many requests that come one behind the other: of which kind the command is, be it one that needs a section
  /// of the table or one of the connection. Nil if the command is unknown, refused, or to be queued.
  @inline(__always)
  private func planInSection(_ request: Request) -> Command.Kind? {
    guard let command = unsafe commands.find(request[0]) else { return nil }
    return unsafe command._withUnsafeGuaranteedRef { command in
      guard isUnrestricted, command.takes(request.count) else { return kindUnlessRefused(command, request) }
      client.begin(command)
      return command.kind
    }
  }

  /// Whether the client may give any command that is right in itself, and it is carried out at once.
  private var isUnrestricted: Bool { client.access == nil && queue == nil && subscriptions.count == 0 }

  @inline(never)
  private func kindUnlessRefused(_ command: Command, _ request: Request) -> Command.Kind? {
    queue == nil && refusal(of: command, request) == nil ? command.kind : nil
  }

  /// Why a command is not carried out; nil if it is.
  private func refusal(of command: Command, _ request: Request) -> CommandError? {
    client.begin(command)
    guard command.takes(request.count) else { return .arity(command.name) }
    if case .connection = command.kind {
      do throws(CommandError) { try CommandWords.check(command, request) } catch { return error }
    }
    if reply.version == 2, subscriptions.count > 0, !command.isForSubscribers {
      return CommandError(
        "ERR Can't execute '\(request.name)': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
          + "RESET are allowed in this context")
    }
    return client.access?.refusal(of: command, request, in: database.index)
  }

  func answer<S: Section & ~Copyable & ~Escapable>(_ command: ReadCommand, _ request: Request, _ section: borrowing S) {
    do { try command.run(request, section, &reply, visible: visibleKeys) } catch { fail(error) }
  }

  // MARK: - Sections

  /// One read section for a read and the reads behind it in the input. One that may take long ends it, as the section holds memory
  /// and judges expiry by the time of its beginning.
  private func readBurst(
    _ first: ReadCommand, _ request: Request, _ bytes: Bytes?, _ patience: Duration
  ) throws {
    let table = try table()
    hasTakenLong = first.mayTakeLong
    try table.read(timeout: patience) { view in
      answer(first, request, view)
      finish()
      guard let bytes, !first.mayTakeLong else { return }
      shareSection(table, bytes) { next in
        guard case .read(let command)? = planInSection(next), !command.mayTakeLong else { return false }
        answer(command, next, view)
        return true
      }
    }
  }

  /// Carries out the requests that follow in the input by `body`, until it returns false with nothing done, there are as many
  /// as may share a section, or it has taken long enough.
  /// - Parameter table: whose section that is.
  private func shareSection(_ table: Table, _ bytes: Bytes, _ body: (Request) -> Bool) {
    // A request that comes alone needs no clock.
    guard findsRequest(in: bytes) else { return }
    let begin = ContinuousClock.now
    // The clock is looked at once for so many arguments: a command may have many.
    var untimed = 0
    // Of the next request's key, if it has one. A search for a key begins with two cache misses. The first, at its bucket, is over when that
    // command's turn comes; the second, at its entry, when the command behind it has been looked for.
    var hash: UInt64?
    for _ in 1..<Self.batchCommands {
      if untimed >= 32 {
        if ContinuousClock.now - begin > Self.batchTime { return }
        untimed = 0
      }
      guard reply.count < Self.replyLimit, findsRequest(in: bytes) else { return }
      let next = request(in: bytes)
      if let hash { table.prefetchEntry(hash: hash) }
      hash = requestAhead(in: bytes).flatMap { $0.count > 1 ? unsafe table.prefetchBucket(of: $0[1].raw) : nil }
      untimed += next.count
      guard body(next) else { return }
      finish()
    }
  }

  /// One barrier for a write and what follows it in the input, as long as that needs nothing but the same table.
  private func batch(
    _ first: WriteCommand, _ request: Request, _ bytes: Bytes?, _ patience: Duration
  ) throws {
    noteWrite(database)
    let table = try table()
    try table.barrier(timeout: patience) { tx in
      guard answer(first, request, &tx) else { return }
      finish()
      guard let bytes else { return }
      shareSection(table, bytes) { next in
        switch planInSection(next) {
        case .read(let command) where !command.mayTakeLong: answer(command, next, tx)
        case .write(.flushdb): return false
        case .write(let command): return answer(command, next, &tx)
        case .read, .connection, nil: return false
        }
        return true
      }
    }
  }

  /// - Returns: false if the table was full and the command is to be tried once more in a barrier of its own, which
  ///   begins by reclaiming.
  private func answer(_ command: WriteCommand, _ request: Request, _ tx: inout Transaction) -> Bool {
    do {
      try command.run(request, &tx, &reply)
    } catch let error as TableError where error.mayFitInNextBarrier && !isSecondAttempt {
      reply.rollBack(to: replyStart)
      isSecondAttempt = true
      return false
    } catch {
      fail(error)
    }
    return true
  }

  /// Removes all keys of all tables, each table's on its own lane, as any write to it that has to wait. The lane does one table; the event loop
  /// then hands the session to the next one's.
  func flushAll(_ request: Request, _ patience: Duration) throws {
    try KeyWrites.checkFlush(request)
    if patience > .zero {
      let database = server.databases[flushedTables]
      do {
        try flush(database, patience)
      } catch let error as TableError where error.code == .unlinked {
        // Another process has made it anew since this server looked last. The tables before it are empty already.
        database.refresh()
        try flush(database, patience)
      }
      flushedTables += 1
      if flushedTables == server.databases.count { return reply.ok() }
    }
    let next = server.databases[flushedTables]
    throw NeedsLane(lane: try isForwarded(next) ? next.forwardingLane : next.lane)
  }

  /// Removes all keys of a table: in one barrier if they are not too many for one. Each removal takes room until its barrier has ended, of
  /// which a full table has hardly any: then there are more barriers, of fewer keys.
  private func flush(_ database: Database, _ patience: Duration) throws {
    if try isForwarded(database) { return try forwardFlush(database, patience) }
    noteWrite(database)
    let table = try database.table()
    var isEmpty = false
    var portion = 50_000
    while !isEmpty {
      do {
        isEmpty = try table.barrier(timeout: patience) { [portion] tx in try tx.removeAll(most: portion) }
      } catch let error as TableError where error.mayFitInNextBarrier && portion > 1 {
        portion /= 2
      }
    }
  }
}

extension CommandError {
  /// The words of Redis, with as much of the arguments as it shows.
  static func unknown(_ request: Request) -> CommandError {
    var arguments: [UInt8] = []
    for index in 1..<max(1, request.count) where arguments.count < 128 {
      arguments += Array("'".utf8) + request[index].quoted(most: 128 - arguments.count) + Array("' ".utf8)
    }
    return CommandError(
      bytes: "ERR unknown command '".utf8 + request[0].quoted(most: 128) + "', with args beginning with: ".utf8
        + arguments)
  }
}

extension Command {
  /// Whether a RESP2 client that listens to channels may give it.
  var isForSubscribers: Bool {
    guard case .connection(let command) = kind else { return false }
    switch command {
    case .subscribe, .unsubscribe, .psubscribe, .punsubscribe, .ping, .quit, .reset: return true
    default: return false
    }
  }
}
