/// Where the sections of accessors come from: the table itself or, asynchronously, its queue.
enum AccessSection {
  static func read<Output>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try table.read(timeout: timeout) { (view: borrowing ReadView) in try accessor.run(view, table) }
  }

  static func barrier<Output>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try table.barrier(timeout: timeout) { (_: inout Transaction) in try accessor.runInBarrier(table) }
  }

  // MARK: - Asynchronously

  // What the caller leaves to the table is that of the handle it has chosen, whoever's the queue is.

  static func submit<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.scope.table(chosen)
    return try AccessQueues.queue(table).submitRead(table, timeout ?? table.timeout) { (view: borrowing ReadView) in
      try accessor.run(view, table)
    }
  }

  static func submit<Output: Sendable>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.scope.table(chosen)
    return try AccessQueues.queue(table).submitBarrier(table, timeout ?? table.timeout) { (_: inout Transaction) in
      try accessor.runInBarrier(table)
    }
  }

  static func awaitRead<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try await AccessQueues.queue(table).read(timeout: timeout ?? table.timeout) { (view: borrowing ReadView) in
      try accessor.run(view, table)
    }
  }

  static func awaitBarrier<Output: Sendable>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try await AccessQueues.queue(table).barrier(timeout: timeout ?? table.timeout) { (_: inout Transaction) in
      try accessor.runInBarrier(table)
    }
  }
}

extension ReadAccessor {
  fileprivate func run(_ view: borrowing ReadView, _ table: Table) throws -> Output {
    try body(AccessRun(table, section: view.section))
  }
}

extension Accessor {
  /// In a barrier, or a part of one that is undone if this throws.
  fileprivate func runInBarrier(_ table: Table) throws -> Output {
    let run = AccessRun(table, section: nil)
    let output = try body(run)
    try run.writeBack()
    return output
  }
}
