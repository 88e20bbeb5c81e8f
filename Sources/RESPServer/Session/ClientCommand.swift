/// `CLIENT …`
enum ClientCommand {
  static func carryOut(_ request: Request, _ session: Session) throws(CommandError) {
    let word = request[1].uppercased
    switch word {
    case "ID": session.reply.integer(session.client.id)
    case "GETNAME":
      let name = session.client.current.name
      // Of no name there is none in RESP2 and RESP3 alike.
      if name.isEmpty { session.reply.null() } else { session.reply.bulk(name) }
    case "SETNAME":
      try session.setName(request[2])
      session.reply.ok()
    case "SETINFO": try setInfo(request, session)
    case "INFO": session.reply.verbatim(session.client.line + "\n")
    case "LIST": try list(request, session)
    case "NO-EVICT", "NO-TOUCH":
      guard request[2].isWord("ON") || request[2].isWord("OFF") else { throw .syntax }
      session.reply.ok()
    case "REPLY": try reply(request[2], session)
    case "KILL": try kill(request, session)
    case "TRACKING": try TrackingRequest.carryOut(request, session)
    case "TRACKINGINFO": trackingInfo(session)
    case "GETREDIR": session.reply.integer(session.tracking.map { $0.redirect ?? 0 } ?? -1)
    default: throw .syntax
    }
  }

  private static func setInfo(_ request: Request, _ session: Session) throws(CommandError) {
    guard request[3].count <= ClientRecord.longestName else { throw .longName }
    let value = request[3].text
    guard value.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw CommandError("ERR ", quoting: request[2], " cannot contain spaces, newlines or special characters.")
    }
    if request[2].isWord("LIB-NAME") {
      session.client.update { $0.library = value }
    } else if request[2].isWord("LIB-VER") {
      session.client.update { $0.libraryVersion = value }
    } else {
      throw CommandError("ERR Unrecognized option '", quoting: request[2], "'")
    }
    session.reply.ok()
  }

  private static func list(_ request: Request, _ session: Session) throws(CommandError) {
    var clients = session.server.clients
    if request.count > 2 {
      if request[2].isWord("ID"), request.count > 3 {
        var wanted: Set<Int> = []
        for index in 3..<request.count {
          guard let id = request[index].integer, id > 0 else { throw CommandError("ERR Invalid client ID") }
          wanted.insert(id)
        }
        clients = clients.filter { wanted.contains($0.id) }
      } else if request[2].isWord("TYPE"), request.count == 4 {
        let kind = try ClientFilter.kind(request[3])
        clients = clients.filter { $0.current.kind == kind }
      } else {
        throw .syntax
      }
    }
    session.reply.verbatim(clients.map { $0.line + "\n" }.joined())
  }

  private static func reply(_ mode: Bytes, _ session: Session) throws(CommandError) {
    if mode.isWord("ON") {
      session.suppression = .none
      session.reply.ok()
    } else if mode.isWord("OFF") {
      session.suppression = .all
    } else if mode.isWord("SKIP") {
      // Also where the answer to this command is kept back already.
      if session.suppression != .all { session.suppression = .next }
    } else {
      throw .syntax
    }
  }

  /// By address alone, one's own connection too; or by filters, all that pass them.
  private static func kill(_ request: Request, _ session: Session) throws(CommandError) {
    if request.count == 3 {
      let address = request[2].text
      guard let client = session.server.clients.first(where: { $0.address == address }) else {
        throw CommandError("ERR No such client")
      }
      end(client, session)
      return session.reply.ok()
    }
    let filter = try ClientFilter(request, from: 2)
    let clients = session.server.clients.filter { filter.passes($0, asking: session.client) }
    for client in clients { end(client, session) }
    session.reply.integer(clients.count)
  }

  private static func end(_ client: ClientRecord, _ session: Session) {
    if client === session.client { session.endsConnection = true } else { client.end() }
  }

  private static func trackingInfo(_ session: Session) {
    session.reply.map(3)
    session.reply.bulk("flags")
    var flags = session.tracking == nil ? ["off"] : ["on", "bcast"]
    if session.server.broker.isRedirectionBroken(session.client) { flags.append("broken_redirect") }
    session.reply.set(flags.count)
    for flag in flags { session.reply.bulk(flag) }
    session.reply.bulk("redirect")
    session.reply.integer(session.tracking.map { $0.redirect ?? 0 } ?? -1)
    session.reply.bulk("prefixes")
    let prefixes = session.tracking?.prefixes ?? []
    session.reply.array(prefixes.count)
    for prefix in prefixes { session.reply.bulk(prefix) }
  }
}
