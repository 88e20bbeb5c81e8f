import ToolSupport

/// What one client may do: the rules that are for it, found once, when it connects.
final class ClientAccess: Sendable {
  /// Who it is, for its errors.
  private let client: String
  /// By place.
  let tables: [TableAccess]

  init(_ rules: [AccessRule], _ peer: PeerCredentials?, tables names: [String]) {
    client = peer.map { "uid \($0.user)" } ?? "a client of whom no user is known"
    let own = rules.filter { $0.isFor(peer) }
    tables = names.map { TableAccess(own, table: $0) }
  }

  /// Whether it may change the server and see who else is connected.
  var administers: Bool { tables.allSatisfy { $0.everywhere.contains(.admin) } }

  func mayRead(_ key: [UInt8], of table: Int) -> Bool { key.withBytes { tables[table].mayRead($0) } }

  /// Whether it may know what is said of a key, if that is what a channel is for.
  func mayHear(_ channel: Bytes) -> Bool {
    guard let key = ReservedChannel.key(of: channel), tables.indices.contains(key.table) else { return true }
    return tables[key.table].mayRead(key.key)
  }

  /// Why it may not give a command; nil if it may. Nothing of a table is looked at.
  func refusal(of command: Command, _ request: Request, in table: Int) -> CommandError? {
    let access = CommandWords.access(of: command, request)
    return missing(access, command, request, tables[table]).map { missing in
      CommandError.denied(client: client, command: command, request, missing)
    }
  }

  /// What is not granted, and to what.
  struct Missing {
    let rights: AccessRights
    let object: String
  }

  private func missing(
    _ access: CommandAccess, _ command: Command, _ request: Request, _ table: TableAccess
  ) -> Missing? {
    switch access {
    case .free: return nil
    case .keys(let rights):
      for place in command.keyPlaces(of: request.count) {
        if let missing = missing(rights, request[place], table) { return missing }
      }
      return nil
    case .pair(let first, let second):
      return missing(first, request[1], table) ?? missing(second, request[2], table)
    case .set: return missing(SetOptions.asksForOld(request) ? [.read, .write] : .write, request[1], table)
    case .expire: return missing(request.count > 3 ? [.read, .write] : .write, request[1], table)
    case .someKey:
      return table.somewhere.contains(.read) ? nil : Missing(rights: .read, object: "any key of table '\(table.name)'")
    case .wholeTable(let rights):
      let rights = rights.subtracting(table.everywhere)
      return rights.isEmpty ? nil : Missing(rights: rights, object: "all of table '\(table.name)'")
    case .server: return missingOfServer
    case .channels(let first):
      if let missing = missingAnywhere(.read) { return missing }
      for index in first..<max(first, request.count) where !mayHear(request[index]) {
        return Missing(rights: .read, object: "the key of channel \(Self.shown(request[index]))")
      }
      return nil
    case .anyTable(let rights): return missingAnywhere(rights)
    case .publish: return ReservedChannel.isReserved(request[1]) ? missingOfServer : missingAnywhere(.write)
    }
  }

  private func missing(_ rights: AccessRights, _ key: Bytes, _ table: TableAccess) -> Missing? {
    let rights = table.missing(rights, to: key)
    return rights.isEmpty ? nil : Missing(rights: rights, object: "key \(Self.shown(key)) of table '\(table.name)'")
  }

  private var missingOfServer: Missing? {
    let table = tables.first { !$0.everywhere.contains(.admin) }
    return table.map { Missing(rights: .admin, object: "all of table '\($0.name)', as for all of each table") }
  }

  private func missingAnywhere(_ rights: AccessRights) -> Missing? {
    if tables.contains(where: { $0.somewhere.isSuperset(of: rights) }) { return nil }
    return Missing(rights: rights, object: "any key of any table")
  }

  private static func shown(_ key: Bytes) -> String { unsafe "'\(String.printableStart(key.raw))'" }
}

extension CommandError {
  fileprivate static func denied(
    client: String, command: Command, _ request: Request, _ missing: ClientAccess.Missing
  ) -> CommandError {
    CommandError(
      "NOPERM \(client) may not give '\(CommandWords.name(of: command, request))': it lacks '\(missing.rights)' for "
        + "\(missing.object); an administrator grants that in 'resp: access'")
  }
}
