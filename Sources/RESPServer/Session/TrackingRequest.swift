/// `CLIENT TRACKING on|off BCAST [PREFIX prefix]… [REDIRECT id]`.
///
/// Invalidations come from the tables' change logs, so they tell of every process's writes. Those logs know keys, and not
/// who has read them: the other mode of Redis, in which the server remembers what each client has read, is refused.
enum TrackingRequest {
  static func carryOut(_ request: Request, _ session: Session) throws(CommandError) {
    let isOn = request[2].isWord("ON")
    guard isOn || request[2].isWord("OFF") else { throw .syntax }
    var tracking = Tracking()
    var isBroadcast = false
    var target = session.client
    var index = 3
    while index < request.count {
      let option = request[index]
      if option.isWord("BCAST") {
        isBroadcast = true
      } else if option.isWord("PREFIX"), index + 1 < request.count {
        index += 1
        tracking.prefixes.append(request[index].array)
      } else if option.isWord("REDIRECT"), index + 1 < request.count {
        index += 1
        target = try client(request[index], session)
        tracking.redirect = target.id
      } else if option.isWord("NOLOOP") || option.isWord("OPTIN") || option.isWord("OPTOUT") {
        throw CommandError(
          "ERR CLIENT TRACKING with \(option.uppercased) is not supported: the change log does not tell who wrote")
      } else {
        throw .syntax
      }
      index += 1
    }
    if isOn {
      guard isBroadcast else {
        throw CommandError(
          tracking.prefixes.isEmpty
            ? "ERR CLIENT TRACKING without BCAST is not supported: name prefixes, or none for all keys, with BCAST"
            : "ERR PREFIX option requires BCAST mode to be enabled")
      }
      try checkCount(tracking.prefixes + (session.tracking?.prefixes ?? []))
      try checkOverlap(tracking.prefixes, with: session.tracking?.prefixes ?? [])
      if tracking.prefixes.isEmpty { tracking.prefixes = [[]] }
      tracking.add(session.tracking?.prefixes ?? [])
    }
    session.setTracking(isOn ? tracking : nil, target: target)
    session.reply.ok()
  }

  private static func client(_ argument: Bytes, _ session: Session) throws(CommandError) -> ClientRecord {
    guard let id = argument.integer else { throw .notAnInteger }
    guard let client = session.server.client(id), session.mayName(client) else {
      throw CommandError("ERR The client ID you want redirect to does not exist")
    }
    return client
  }

  private static func checkCount(_ prefixes: [[UInt8]]) throws(CommandError) {
    guard prefixes.count <= Tracking.mostPrefixes, prefixes.reduce(0, { $0 + $1.count }) <= Tracking.mostBytes else {
      throw CommandError("ERR too many prefixes; a connection tracks \(Tracking.mostPrefixes), of 1 MiB in all")
    }
  }

  /// As in Redis: a key of two prefixes would be told twice.
  private static func checkOverlap(_ prefixes: [[UInt8]], with existing: [[UInt8]]) throws(CommandError) {
    for (index, prefix) in prefixes.enumerated() {
      try check(prefix, existing, "an existing prefix")
      try check(prefix, prefixes[(index + 1)...], "another provided prefix")
    }
  }

  private static func check(
    _ prefix: [UInt8], _ others: some Sequence<[UInt8]>, _ which: String
  ) throws(CommandError) {
    guard let other = others.first(where: { prefix.starts(with: $0) || $0.starts(with: prefix) }) else { return }
    let (shown, second) = (prefix.withBytes { $0.quoted() }, other.withBytes { $0.quoted() })
    throw CommandError(
      bytes: "ERR Prefix '".utf8 + shown + "' overlaps with \(which) '".utf8 + second
        + "'. Prefixes for a single client must not overlap.".utf8)
  }
}

extension Session {
  /// Whether this client may have another one told: with an `access`, one of another user only if it administers the server.
  fileprivate func mayName(_ other: ClientRecord) -> Bool {
    guard let access = client.access, !access.administers else { return true }
    return other.peer?.user == client.peer?.user
  }

  func setTracking(_ tracking: Tracking?, target: ClientRecord) {
    track(tracking)
    client.update { $0.tracking = tracking.map { $0.redirect.map { .other($0) } ?? .itself } }
    server.broker.track(tracking, for: client, target: target)
  }
}
