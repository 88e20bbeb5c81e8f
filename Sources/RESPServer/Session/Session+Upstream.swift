import SharedTable

/// Writes to a table that mirrors another store go there.
extension Session {
  /// Whether that is so of the table that is selected.
  var isForwarded: Bool { server.upstream != nil && (try? table())?.isMirror == true }

  func isForwarded(_ database: Database) throws(TableError) -> Bool {
    if server.upstream == nil { return false }
    return try database.table().isMirror
  }

  /// Carries out a command that writes.
  func forward(_ command: WriteCommand, _ request: Request, _ patience: Duration) throws {
    _ = try forward(to: database, patience) { section in
      do { try command.run(request, &section, &reply) } catch { fail(error) }
      return true
    }
  }

  /// Carries out a transaction that writes.
  /// - Returns: false if a watched key was written to meanwhile, by whomever.
  func forward(_ queue: CommandQueue, _ patience: Duration) throws -> Bool {
    if patience == .zero { throw NeedsLane(lane: database.forwardingLane) }
    guard queue.isForwardable else {
      throw CommandError(
        "EXECABORT Transaction discarded because of: the table mirrors another store, and only commands of keys go there"
      )
    }
    return try forward(to: database, patience) { section in
      let goesOn = try run(queue, in: &section, isLast: true)
      try section.requireWhole()
      return goesOn
    }
  }

  /// Removes all keys.
  func forwardFlush(_ database: Database, _ patience: Duration) throws {
    _ = try forward(to: database, patience) { section in section.removeAll(most: .max) }
  }

  private func forward(
    to database: Database, _ patience: Duration, _ draft: (inout DraftSection) throws -> Bool
  ) throws -> Bool {
    noteWrite(database)
    let forwarding = Forwarding(of: try database.table(), by: server.upstream!, patience: patience)
    let start = reply.position
    return try forwarding.run(undo: { reply.rollBack(to: start) }, draft)
  }
}
