import TestSupport

/// What one thread does to a table, written down before and after each call: a process that is killed leaves its last
/// operation begun and not ended.
public final class HistoryLog: Sendable {
  private enum Tag: UInt64 {
    case begin = 1
    case access, version, closing, end
  }
  fileprivate enum Verdict: UInt64 {
    case done = 1
    case refused, undone
  }

  private let records: RecordFile
  private let clock: @Sendable () -> UInt64

  /// Maps a log, which is made if there is none.
  /// - Parameter clock: nanoseconds of CLOCK_MONOTONIC.
  public init(path: String, capacity: Int = 1 << 20, clock: @escaping @Sendable () -> UInt64) {
    records = RecordFile(path: path, wordsPerRecord: 5, capacity: capacity)
    self.clock = clock
  }

  public var count: Int { records.count }
  public var isStopRequested: Bool { records.isStopRequested }
  public func requestStop() { records.requestStop() }
  /// Is there room for one more operation of this many accesses?
  public func hasRoom(for accesses: Int) -> Bool { records.count + accesses + 4 < records.capacity }

  // MARK: - Writing

  public func begin(_ kind: Operation.Kind) { append(.begin, kind.rawValue, clock()) }

  /// A write or a write under a condition: before it is done. A read: after it.
  public func access(_ access: Operation.Access) {
    var flags: UInt64 = 0
    var operand: UInt64 = 0
    switch access.condition {
    case .always: break
    case .equals(let value): (flags, operand) = (1, value)
    case .differs(let value): (flags, operand) = (2, value)
    }
    if access.write != nil { flags |= 4 }
    if access.version != nil { flags |= 8 }
    append(.access, flags | UInt64(access.key) << 8, operand, access.write ?? 0, access.version ?? 0)
  }

  public func version(_ version: UInt64) { append(.version, version) }
  /// A barrier's closure is at its end: from here on it may commit.
  public func closing() { append(.closing, 0) }
  public func done() { append(.end, Verdict.done.rawValue, clock()) }
  /// The condition of the write did not hold.
  public func refused() { append(.end, Verdict.refused.rawValue, clock()) }
  public func undone() { append(.end, Verdict.undone.rawValue, clock()) }

  private func append(_ tag: Tag, _ first: UInt64, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
    records.append { words in
      words[0] = tag.rawValue
      words[1] = first
      words[2] = second
      words[3] = third
      words[4] = fourth
    }
  }

  // MARK: - Reading

  /// What is in the log. Nobody writes any more.
  public func operations(process: Int) -> [Operation] {
    var operations: [Operation] = []
    var open: Operation?
    var mayCommit = false
    for index in 0..<count {
      let words = records[index]
      switch Tag(rawValue: words[0])! {
      case .begin:
        let kind = Operation.Kind(rawValue: words[1])!
        open = Operation(process: process, kind, .pending, begin: words[2], end: nil, [])
        mayCommit = kind != .barrier
      case .access: open!.accesses.append(Self.access(words))
      case .version: open!.version = words[1]
      case .closing: mayCommit = true
      case .end:
        open!.settle(Verdict(rawValue: words[1])!, at: words[2])
        operations.append(open!)
        open = nil
      }
    }
    // Killed in an operation: a barrier that was not at its end cannot have committed.
    if var open {
      if !mayCommit { open.outcome = .undone }
      operations.append(open)
    }
    return operations
  }

  private static func access(_ words: UnsafePointer<UInt64>) -> Operation.Access {
    let flags = words[1] & 0xff
    let condition: Operation.Condition =
      flags & 1 != 0 ? .equals(words[2]) : flags & 2 != 0 ? .differs(words[2]) : .always
    return Operation.Access(
      key: Int(words[1] >> 8), condition, write: flags & 4 != 0 ? words[3] : nil,
      version: flags & 8 != 0 ? words[4] : nil)
  }
}

extension Operation {
  fileprivate mutating func settle(_ verdict: HistoryLog.Verdict, at end: UInt64) {
    self.end = end
    outcome = verdict == .undone ? .undone : .done
    guard verdict == .refused else { return }
    // It found out that its condition did not hold, and wrote nothing.
    for index in accesses.indices where accesses[index].write != nil {
      accesses[index].condition = accesses[index].condition.negation
      accesses[index].write = nil
    }
  }
}
