/// SUBSCRIBE and its relatives.
extension Session {
  func subscribe(_ request: Request, isPattern: Bool) throws(CommandError) {
    try checkRoom(for: request, isPattern: isPattern)
    for index in 1..<request.count {
      let channel = request[index].array
      subscriptions.add(channel, isPattern: isPattern)
      noteSubscriptions()
      server.broker.subscribe(client, to: channel, isPattern: isPattern)
      confirm(isPattern ? "psubscribe" : "subscribe", channel)
    }
  }

  private func checkRoom(for request: Request, isPattern: Bool) throws(CommandError) {
    let names = 1..<request.count
    for index in names { try checkName(request[index], isPattern: isPattern) }
    guard subscriptions.count + names.count <= Subscriptions.most else {
      throw CommandError("ERR too many subscriptions; at most \(Subscriptions.most) a connection")
    }
    guard names.reduce(subscriptions.bytes, { $0 + request[$1].count }) <= Subscriptions.mostBytes else {
      throw CommandError("ERR too many subscriptions; their names may have 64 MiB a connection")
    }
    guard isPattern else { return }
    let cost = names.reduce(subscriptions.patternCost) { $0 + Glob.cost(ofLength: request[$1].count) }
    guard cost <= Subscriptions.mostPatternCost else {
      throw CommandError(
        "ERR too many patterns; a connection listens to \(Subscriptions.mostPatternCost) of fewer than 64 bytes, a longer one counts once more "
          + "for each 64 bytes")
    }
  }

  private func checkName(_ name: Bytes, isPattern: Bool) throws(CommandError) {
    let longest = isPattern ? Subscriptions.longestPattern : Subscriptions.longestChannel
    guard name.count <= longest else {
      let kind = isPattern ? "a pattern of channels" : "the name of a channel"
      throw CommandError("ERR \(kind) may have \(longest) bytes; this has \(name.count)")
    }
  }

  func unsubscribe(_ request: Request, isPattern: Bool) {
    let word = isPattern ? "punsubscribe" : "unsubscribe"
    if request.count == 1 {
      let left = leaveChannels(isPattern: isPattern)
      for (index, channel) in left.enumerated() { confirm(word, channel, extra: left.count - 1 - index) }
      if left.isEmpty { confirm(word, nil) }
      return
    }
    for index in 1..<request.count {
      let channel = request[index].array
      leave(channel, isPattern: isPattern)
      confirm(word, channel)
    }
  }

  /// - Returns: what was left.
  @discardableResult
  func leaveChannels(isPattern: Bool) -> [[UInt8]] {
    let left = subscriptions.names(arePatterns: isPattern)
    for channel in left { leave(channel, isPattern: isPattern) }
    return left
  }

  private func leave(_ channel: [UInt8], isPattern: Bool) {
    server.broker.unsubscribe(client, from: channel, isPattern: isPattern)
    subscriptions.remove(channel, isPattern: isPattern)
    noteSubscriptions()
  }

  private func noteSubscriptions() {
    let counts = subscriptions.counts
    client.update { $0.subscriptions = counts }
  }

  /// A message, which `CLIENT REPLY` does not keep back.
  private func confirm(_ word: String, _ channel: [UInt8]?, extra: Int = 0) {
    let count = subscriptions.count + extra
    if suppression.keepsBack {
      messages.version = reply.version
      messages.confirm(word, channel, count)
    } else {
      reply.confirm(word, channel, count)
    }
  }

  /// Sends a message; inside EXEC, when its barrier has ended.
  /// - Returns: how many clients listen.
  func publish(_ message: [UInt8], on channel: Bytes) throws(CommandError) -> Int {
    try checkName(channel, isPattern: false)
    // As long as the patterns that it is compared with are many.
    hasTakenLong = true
    let channel = channel.array
    let deliveries = server.broker.deliveries(of: message, on: channel)
    if unsent == nil { for delivery in deliveries { delivery.deliver() } } else { unsent!.append((channel, message)) }
    return deliveries.count
  }

  func pubsub(_ request: Request) throws(CommandError) {
    let broker = server.broker
    if request[1].isWord("CHANNELS") {
      var glob: Glob?
      if request.count == 3 {
        try checkName(request[2], isPattern: true)
        glob = Glob(request[2].array, longest: Subscriptions.longestChannel)
      }
      let channels = broker.channels(matching: glob).filter { channel in
        client.access.map { access in channel.withBytes { access.mayHear($0) } } ?? true
      }
      try reply.room(for: channels.reduce(0) { $0 + $1.count + 32 })
      reply.array(channels.count)
      for channel in channels { reply.bulk(channel) }
    } else if request[1].isWord("NUMSUB") {
      reply.array((request.count - 2) * 2)
      for index in 2..<request.count {
        reply.bulk(request[index])
        reply.integer(broker.listeners(of: request[index].array))
      }
    } else {
      reply.integer(broker.patternCount)
    }
  }
}

extension Reply {
  fileprivate mutating func confirm(_ word: String, _ channel: [UInt8]?, _ count: Int) {
    push(3)
    bulk(word)
    if let channel { bulk(channel) } else { null() }
    integer(count)
  }
}
