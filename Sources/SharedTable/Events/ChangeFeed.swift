import SharedMemory
import TableEngine

/// A reader's way through a table's change log: what sequences and sources have in common.
struct ChangeFeed: Sendable {
  /// Which keys are of interest.
  enum Filter: Sendable {
    case prefix([UInt8])
    case key([UInt8])

    func admits(_ key: UnsafeRawBufferPointer) -> Bool {
      switch self {
      case .prefix(let prefix): unsafe key.count >= prefix.count && zip(key, prefix).allSatisfy { $0 == $1 }
      case .key(let wanted): unsafe key.count == wanted.count && zip(key, wanted).allSatisfy { $0 == $1 }
      }
    }
  }

  let table: Table
  private let filter: Filter
  private let start: UInt64?
  /// A change is told when it is on the disk.
  private let isDurableOnly: Bool
  private var cursor: ChangeCursor
  private var pending: [TableChange] = []
  private var delivered = 0
  private var isFirst = true

  /// - Parameter start: nil = from now.
  init(_ table: Table, after start: UInt64?, _ filter: Filter, durableOnly: Bool = false) {
    isDurableOnly = durableOnly
    self.table = table
    self.filter = filter
    self.start = start
    cursor = start.map { ChangeCursor(after: $0) } ?? table.segment.changeCursor()
  }

  /// Up to which the log was read.
  var version: UInt64 { cursor.readVersion }

  enum Step {
    case change(TableChange)
    /// Nothing that is wanted among the records looked at: there may be more.
    case again
    /// Nothing before this has come.
    case wait(Watch.Goal)
  }

  /// The next change, or what to do until there is one. Blocks nobody and looks at some hundred records at most.
  mutating func step() throws(TableError) -> Step {
    if delivered < pending.count { return try stepThroughPending() }
    if isFirst { try checkRequest() }
    isFirst = false
    do throws(EngineError) {
      if let step = try read() { return step }
    } catch {
      throw table.named(error)
    }
    return try stepThroughPending()
  }

  /// The next change, or what to do until there is one. Looks through what is in the log up to a version, and no further where changes that
  /// are not wanted come as fast as it looks.
  /// - Returns: `again` if everything up to `newest` was looked at, and more has come since.
  mutating func next(upTo newest: UInt64) throws(TableError) -> Step {
    while true {
      let step = try step()
      guard case .again = step, version < newest else { return step }
    }
  }

  /// Refuses what would be waited for in vain.
  private func checkRequest() throws(TableError) {
    if case .key(let key) = filter, !Table.keyLengths.contains(key.count) { throw table.named(.keyLength(key.count)) }
    guard let start, start > table.version, table.segment.isOfThisProcess else { return }
    throw TableError(
      .invalid, table: table.name,
      "the table has not reached version \(start); begin after a version that was read from this table")
  }

  private mutating func stepThroughPending() throws(TableError) -> Step {
    let change = pending[delivered]
    if isDurableOnly, let version = change.version, try !table.isDurable(version) { return .wait(.disk(version)) }
    delivered += 1
    return .change(change)
  }

  /// - Returns: nil if there are pending changes now.
  private mutating func read() throws(EngineError) -> Step? {
    let (filter, readVersion) = (filter, cursor.readVersion)
    let batch = try unsafe table.segment.readChanges(&cursor, limit: 512) { unsafe filter.admits($0) }
    pending = batch.missed > 0 && mayHaveMissed(after: readVersion) ? [.missed(batch.missed)] : []
    for change in batch.changes {
      pending.append(
        change.isRemoval
          ? .removed(change.key, version: change.version) : .set(change.key, version: change.version))
    }
    delivered = 0
    if !pending.isEmpty { return nil }
    guard batch.isAtEnd else { return .again }
    // What was committed before the table was dropped has been told by now.
    if table.segment.committed == batch.newest {
      try table.segment.checkLinked(now: HostClock.coarseNanoseconds)
    }
    return .wait(.commit(after: batch.newest))
  }

  /// Whether a wanted change that is newer than a version may be among those that were lost.
  private func mayHaveMissed(after version: UInt64) -> Bool {
    switch filter {
    case .prefix(let prefix): table.segment.mayHaveLostChanges(of: prefix, after: version)
    case .key(let key):
      table.segment.mayHaveLostChanges(of: key, after: version) && isAbsent(key, orNewerThan: version)
    }
  }

  /// Whether a key is not there, or its value is newer: a change of it that was lost would have given it a later version, or taken it
  /// away.
  private func isAbsent(_ key: [UInt8], orNewerThan version: UInt64) -> Bool {
    // In a section a look would show that section's version.
    guard table.segment.threadSection == .none else { return true }
    let found = try? unsafe key.withKeyBytes { bytes throws(EngineError) -> UInt64? in
      guard let start = bytes.baseAddress else { return nil }
      return try unsafe table.segment.withValue(
        start, bytes.count, timeoutNanoseconds: 0, clock: table.clock
      ) { $0.version }
    }
    guard let found = found ?? nil else { return true }
    return found > version
  }
}
