import SharedTable

/// Commands that are about the connection and the server.
extension Session {
  func carryOut(_ command: ConnectionCommand, _ request: Request, _ patience: Duration) throws {
    switch command {
    case .ping: try ping(request)
    case .echo: reply.bulk(request[1])
    case .hello: try hello(request)
    case .auth: try authenticate(request)
    case .acl: reply.bulk(client.peer?.description ?? "unknown")
    case .select: try select(request)
    case .client: try ClientCommand.carryOut(request, self)
    case .command: try CommandCommand.carryOut(request, &reply)
    case .info: try InfoReport(server, self).answer(request, &reply)
    case .config: try config(request)
    case .time:
      let now = WallTime.now
      reply.array(2)
      reply.bulk("\(now.seconds)")
      reply.bulk("\(now.microseconds)")
    case .reset: reset()
    case .quit:
      reply.ok()
      endsConnection = true
    case .dbsize: reply.integer(try table().count)
    case .flushall: try flushAll(request, patience)
    case .multi: try multi()
    case .exec: try exec(patience)
    case .discard: try discard()
    case .watch: try watch(request, patience)
    case .unwatch:
      unwatch()
      reply.ok()
    case .subscribe: try subscribe(request, isPattern: false)
    case .psubscribe: try subscribe(request, isPattern: true)
    case .unsubscribe: unsubscribe(request, isPattern: false)
    case .punsubscribe: unsubscribe(request, isPattern: true)
    case .publish: reply.integer(try publish(request[2].array, on: request[1]))
    case .pubsub: try pubsub(request)
    case .save: reply.ok()
    case .bgsave: reply.simple("Background saving started" as StaticString)
    case .lastsave: reply.integer(server.beginTime)
    case .shutdown:
      throw CommandError("ERR SHUTDOWN is refused: an administrator stops shmd, by systemctl stop shmd")
    case .wait: try waitForReplicas(request)
    case .waitaof: try waitForDisk(request)
    case .function: reply.ok()
    }
  }

  /// Tables have no replicas, and none will come: there is nothing to wait for.
  private func waitForReplicas(_ request: Request) throws(CommandError) {
    guard request[1].integer != nil else { throw .notAnInteger }
    _ = try DiskWait.timeout(request[2])
    reply.integer(0)
  }

  private func ping(_ request: Request) throws(CommandError) {
    guard request.count <= 2 else { throw .arity("ping") }
    if reply.version == 2, subscriptions.count > 0 {
      reply.array(2)
      reply.bulk("pong")
      if request.count == 2 { reply.bulk(request[1]) } else { reply.bulk("") }
    } else if request.count == 2 {
      reply.bulk(request[1])
    } else {
      reply.simple("PONG" as StaticString)
    }
  }

  private func hello(_ request: Request) throws(CommandError) {
    var version = reply.version
    var index = 1
    if request.count > 1 {
      guard let number = request[1].integer else {
        throw CommandError("ERR Protocol version is not an integer or out of range")
      }
      guard number == 2 || number == 3 else { throw CommandError("NOPROTO unsupported protocol version") }
      version = number
      index = 2
    }
    var name: Bytes?
    while index < request.count {
      if request[index].isWord("AUTH"), index + 2 < request.count {
        try checkUser(request[index + 1])
        index += 3
      } else if request[index].isWord("SETNAME"), index + 1 < request.count {
        name = request[index + 1]
        index += 2
      } else {
        throw CommandError("ERR Syntax error in HELLO option '", quoting: request[index], "'")
      }
    }
    if let name { try setName(name) }
    reply.version = version
    client.update { $0.version = version }
    reply.map(7)
    for (key, value) in [("server", "redis"), ("version", InfoReport.redisVersion)] {
      reply.bulk(key)
      reply.bulk(value)
    }
    for (key, value) in [("proto", version), ("id", client.id)] {
      reply.bulk(key)
      reply.integer(value)
    }
    for (key, value) in [("mode", "standalone"), ("role", "master")] {
      reply.bulk(key)
      reply.bulk(value)
    }
    reply.bulk("modules")
    reply.array(0)
  }

  func setName(_ name: Bytes) throws(CommandError) {
    guard name.count <= ClientRecord.longestName else { throw .longName }
    guard name.array.allSatisfy({ (33...126).contains($0) }) else {
      throw CommandError("ERR Client names cannot contain spaces, newlines or special characters.")
    }
    let text = name.text
    client.update { $0.name = text }
  }

  /// There are no passwords: the kernel tells who connects, and the configuration what they may do.
  private func checkUser(_ user: Bytes) throws(CommandError) {
    guard user.text == "default" else {
      throw CommandError("WRONGPASS invalid username-password pair or user is disabled.")
    }
  }

  private func authenticate(_ request: Request) throws(CommandError) {
    guard request.count <= 3 else { throw .syntax }
    guard request.count == 3 else {
      throw CommandError(
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
          + "configuration is correct?")
    }
    try checkUser(request[1])
    reply.ok()
  }

  private func select(_ request: Request) throws(CommandError) {
    select(try server.database(request[1]))
    reply.ok()
  }

  private static let mostPatterns = 64

  private func config(_ request: Request) throws(CommandError) {
    if request[1].isWord("GET") {
      // Patterns take memory, and more of them than there are names ask for nothing more.
      guard request.count - 2 <= Self.mostPatterns else {
        throw CommandError("ERR CONFIG GET takes at most \(Self.mostPatterns) patterns")
      }
      let patterns = (2..<request.count).map { Glob(Array(request[$0].lowercased.utf8), longest: 64) }
      let values = server.configuration.values(server.options, tables: server.databases.count).filter { value in
        patterns.contains { $0.matches(Array(value.name.utf8)) }
      }
      reply.map(values.count)
      for (name, value) in values {
        reply.bulk(name)
        reply.bulk(value)
      }
    } else if request[1].isWord("SET") {
      guard request.count % 2 == 0 else { throw .syntax }
      let pairs = stride(from: 2, to: request.count, by: 2).map { (request[$0].array, request[$0 + 1].text) }
      do {
        try server.configure { configuration in
          var changed = configuration
          for (name, value) in pairs { try changed.set(name, value) }
          configuration = changed
        }
      } catch {
        throw error as? CommandError ?? .syntax
      }
      reply.ok()
    } else {
      // RESETSTAT: no other second word passes the check.
      server.forgetCounts()
      reply.ok()
    }
  }

  /// Makes the connection as new.
  private func reset() {
    leaveTransaction()
    for isPattern in [false, true] { leaveChannels(isPattern: isPattern) }
    setTracking(nil, target: client)
    suppression = .none
    select(server.databases[0])
    reply.version = 2
    client.update {
      $0.version = 2
      $0.name = ""
    }
    reply.simple("RESET" as StaticString)
  }
}
