/// Where the sections of accessors come from: the table itself, in the turn of its queue; or a queue of the caller's own.
enum AccessSection {
  static func read<Output>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.commonTable.table(chosen)
    guard let queue = AccessQueues.queueOfChangesInUse(table) ?? AccessQueues.queueInUse(table) else {
      return try read(accessor, table, timeout)
    }
    return try queue.withReadTurn(timeout ?? table.timeout) { timeout in try read(accessor, table, timeout) }
  }

  private static func read<Output>(
    _ accessor: ReadAccessor<Output>, _ table: Table, _ timeout: Duration?
  ) throws -> Output {
    try table.read(timeout: timeout) { (view: borrowing ReadView) in try accessor.run(view, table) }
  }

  static func barrier<Output>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.commonTable.table(chosen)
    guard let queue = AccessQueues.queueInUse(table) else { return try barrier(accessor, table, timeout) }
    return try queue.withBarrierTurn(timeout ?? table.timeout) { timeout in try barrier(accessor, table, timeout) }
  }

  private static func barrier<Output>(
    _ accessor: Accessor<Output>, _ table: Table, _ timeout: Duration?
  ) throws -> Output {
    guard let key = accessor.key else {
      return try table.barrier(timeout: timeout) { (_: inout Transaction) in try accessor.runInBarrier(table) }
    }
    return try unsafe key.withKeyBytes { key throws in
      try unsafe table.beginBarrier(timeout, reach: .key(key))
      return try table.runBarrier { (_: inout Transaction) throws in try accessor.runInBarrier(table) }
    }
  }

  // MARK: - Asynchronously

  // What the caller leaves to the table is that of the handle it has chosen, whoever's the queue is.

  static func submit<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.commonTable.table(chosen)
    if let queue = AccessQueues.queueOfChangesInUse(table) {
      // The queue's section is of another segment: the look has one of its own, in the same turn.
      let timeout = timeout ?? table.timeout
      let work = try queue.submitRead(timeout) { _ in WorkValue.of(try read(accessor, table, timeout)) }
      return WorkItem(work, of: queue, table)
    }
    let queue = AccessQueues.queue(table)
    let work = try queue.submitRead(timeout ?? table.timeout) { view in WorkValue.of(try accessor.run(view, table)) }
    return WorkItem(work, of: queue, table)
  }

  static func submit<Output: Sendable>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.commonTable.table(chosen)
    let queue = AccessQueues.queue(table)
    let work = try queue.submitBarrier(timeout ?? table.timeout, .barrier) { _ in
      WorkValue.of(try accessor.runInBarrier(table))
    }
    return WorkItem(work, of: queue, table)
  }

  static func awaitRead<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.commonTable.table(chosen)
    try await AccessQueues.queueOfChangesInUse(table)?.flush()
    return try await AccessQueues.queue(table).read(timeout: timeout ?? table.timeout) { (view: borrowing ReadView) in
      try accessor.run(view, table)
    }
  }

  static func awaitBarrier<Output: Sendable>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.commonTable.table(chosen)
    return try await AccessQueues.queue(table).barrier(timeout: timeout ?? table.timeout) { (_: inout Transaction) in
      try accessor.runInBarrier(table)
    }
  }
}

/// Runs of a section on a queue of the caller's own.
extension AccessSection {
  static func read<Output>(
    _ accessor: ReadAccessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.commonTable.table(queue.table)
    return try queue.sync(timeout: timeout) { (view: borrowing ReadView) in try accessor.run(view, table) }
  }

  static func barrier<Output>(
    _ accessor: Accessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.commonTable.table(queue.table)
    return try queue.sync(flags: .barrier, timeout: timeout) { (_: inout Transaction) in
      try accessor.runInBarrier(table)
    }
  }

  static func submit<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.commonTable.table(queue.table)
    return try queue.async(timeout: timeout) { (view: borrowing ReadView) in try accessor.run(view, table) }
  }

  static func submit<Output: Sendable>(
    _ accessor: Accessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) throws(TableError) -> WorkItem<Output> {
    let table = try accessor.commonTable.table(queue.table)
    return try queue.async(flags: .barrier, timeout: timeout) { (_: inout Transaction) in
      try accessor.runInBarrier(table)
    }
  }

  static func awaitRead<Output: Sendable>(
    _ accessor: ReadAccessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.commonTable.table(queue.table)
    return try await queue.read(timeout: timeout) { (view: borrowing ReadView) in try accessor.run(view, table) }
  }

  static func awaitBarrier<Output: Sendable>(
    _ accessor: Accessor<Output>, on queue: BarrierQueue, timeout: Duration?
  ) async throws -> Output {
    let table = try accessor.commonTable.table(queue.table)
    return try await queue.barrier(timeout: timeout) { (_: inout Transaction) in try accessor.runInBarrier(table) }
  }
}

extension ReadAccessor {
  fileprivate func run(_ view: borrowing ReadView, _ table: Table) throws -> Output {
    try body(WorkingCopies(table, section: view.section))
  }
}

extension Accessor {
  /// In a barrier, or a part of one that is undone if this throws.
  fileprivate func runInBarrier(_ table: Table) throws -> Output {
    let copies = WorkingCopies(table, section: nil)
    let output = try body(copies)
    try copies.writeBack()
    return output
  }
}
