public import SharedTable
import TableEngine

/// Keeps a table's store: reads from the change log which keys changed, copies them in one read section at a version S, writes
/// them in one transaction, and only then says that S is durable.
///
/// So the store is the table at a version that was committed: never half a barrier. One thread uses it.
public final class Follower {
  /// What a step has met, for a log. Said once each.
  public enum Event: Sendable, Equatable {
    /// The log was overwritten before it was read, or does not reach back: the store was compared with the table.
    case compared
    /// A new file was written from memory.
    case newFile
  }

  public let table: Table
  let directory: StoreDirectory
  let disk: String?
  /// That nobody else stores to the table's words. Nil: it has ended.
  private var lock: KeeperLock?
  var segment: Segment { table.segment }
  let clock = ExpiryClock()
  /// Nil: the next step writes a new file.
  var store: Store?
  private var cursor: ChangeCursor
  /// Keys that changed since the store's version, and the last version in which each did.
  private(set) var pending: [[UInt8]: UInt64] = [:]
  /// About what they take.
  private var pendingBytes = 0
  /// The log was read as far as this version.
  private(set) var covered: UInt64 = 0
  /// What the store holds has not been synced since it was opened.
  private(set) var mustProve = false
  /// The file of this table that was left for broken, until another is in its place.
  var brokenGeneration: UInt64?
  /// What lies under the store's name is not known yet.
  private var mustFindStore = false
  /// What the log told is not all: the store must be compared with the table.
  var mustCompare = false
  public private(set) var events: [Event] = []

  /// More keys than this, or more bytes of them than the table has, are not remembered: a comparison costs less.
  private static let mostPending = 4 << 20
  private static let leastPendingBytes = 16 << 20
  private static let recordsRead = 4096
  /// How long a section waits for a barrier (rwlock variant).
  static let sectionNanoseconds: UInt64 = 5_000_000_000

  /// Opens the store of a living table, and finds out how far it is; makes it at the first ``sync()`` if there is none.
  ///
  /// - Parameter disk: the name of a VFS; nil: the system's. For tests.
  /// - Throws: `inUse` if another process keeps the table's store, wherever that lies; `otherTable` if the store is that of a table
  ///   with the same name. It is left as it is.
  public convenience init(_ table: Table, in directory: StoreDirectory, disk: String? = nil) throws(StoreError) {
    try self.init(table, in: directory, disk: disk, holding: try table.lockForKeeper(directory))
  }

  /// As ``init(_:in:disk:)``, for a keeper that has the lock already.
  init(
    _ table: Table, in directory: StoreDirectory, disk: String?, holding lock: KeeperLock
  ) throws(StoreError) {
    self.table = table
    self.directory = directory
    self.disk = disk
    self.lock = lock
    cursor = ChangeCursor(after: 0)
    try directory.prepare()
    try findStore()
    if segment.keeping != .broken { try tell(.kept) }
  }

  /// Opens the table's newest file, if it has one, and goes on from there. Not from one that is broken: ``sync()`` writes another.
  /// - Parameter isReplaced: it is not the file that was last written for this table.
  private func findStore(isReplaced: Bool = false) throws(StoreError) {
    mustFindStore = true
    if let store = try openStore() {
      try check(store)
      if segment.keeping == .broken { store.close(isBroken: true) } else { try goOn(from: store, isReplaced) }
    }
    mustFindStore = false
  }

  private func goOn(from store: Store, _ isReplaced: Bool) throws(StoreError) {
    self.store = store
    cursor = ChangeCursor(after: store.applied)
    forgetAllPending()
    mustCompare = isReplaced
    guard isReplaced else { return try prove(store) }
    // The comparison goes on from what lies there, and commits a proof.
    mustProve = true
    try store.syncFile()
  }

  /// - Returns: nil if there is none, or one that is broken and cannot be read. Damage makes this table's own file such a one.
  private func openStore() throws(StoreError) -> Store? {
    let isBroken = segment.keeping == .broken
    do throws(StoreError) {
      return try Store.open(table.name, in: directory, disk: disk, removingOthers: !isBroken)
    } catch {
      if isBroken, error.code == .inputOutput || error.code == .damaged { return nil }
      guard error.code == .damaged else { throw error }
      guard let uuid = Store.uuid(ofFile: error.path, disk), uuid == segment.uuid else { throw error.besideTable }
      try tell(.broken)
      return nil
    }
  }

  /// Says that what the file holds is durable, once it is on the disk: whoever wrote it may have been killed before the sync, and what is read
  /// of it comes from the system's memory. So may what somebody copied there, which is in the file itself and not in its log.
  private func prove(_ store: Store) throws(StoreError) {
    mustProve = true
    do throws(StoreError) {
      try store.syncFile()
      try store.commitAgain()
    } catch {
      // The next commit proves as much.
      if error.code == .noSpace { return }
      giveUp(after: error)
      throw error
    }
    try publish(store.applied)
  }

  private func check(_ store: Store) throws(StoreError) {
    guard store.uuid == table.segment.uuid else {
      throw StoreError(
        .otherTable, store.path,
        "is the store of another table of this name, which was dropped and made anew; it is left as it is: to store the table as it "
          + "is now, move the store away; to have back what the store holds, drop the table and shmd makes it anew")
    }
    guard store.applied <= table.version else {
      throw StoreError(
        .damaged, store.path,
        "damaged: it says version \(store.applied), and the table is at \(table.version); \(StoreError.moveAwayFromTable)"
      )
    }
  }

  /// Somebody removed the file, or moved it away, and no sync has noticed it yet.
  var hasLostFile: Bool { store?.database.hasMoved ?? false }

  /// Leaves a file that somebody removed, moved away or put another in the place of: what is written there after a reboot nobody finds.
  /// What lies there now is looked at as at the start, and compared: it may be a copy that was made while its log held a part of it.
  private func leaveMovedStore() throws(StoreError) {
    if let store, store.database.hasMoved {
      store.close()
      // All of it is in the table. SQLite would put it into the file that lies there now.
      store.database.removeLog()
      self.store = nil
      mustFindStore = true
    }
    if mustFindStore { try findStore(isReplaced: true) }
  }

  /// Ends the use of the file, with all that was written in it, and lets another be the table's keeper.
  public func close() {
    store?.close()
    store = nil
    lock = nil
  }

  // MARK: - Steps

  /// Reads on in the change log, as far as the table is by now. Never waits, and costs the writers nothing.
  /// - Returns: whether something is to be stored.
  @discardableResult
  public func collect() throws(StoreError) -> Bool { try collect(upTo: table.version) }

  /// Reads on in the change log, at least up to a version, and no further than the call that reaches it. Beside writers that commit as fast as the log is
  /// read, reading to its end would not return: nothing would be stored, and nobody told.
  func collect(upTo goal: UInt64) throws(StoreError) -> Bool {
    while true {
      let batch = try reading { () throws(EngineError) in
        try unsafe segment.readChanges(&cursor, limit: Self.recordsRead)
      }
      let most = max(Self.leastPendingBytes, table.capacityBytes)
      if batch.missed > 0 || pending.count > Self.mostPending || pendingBytes > most {
        mustCompare = true
        forgetAllPending()
      }
      if !mustCompare || isComparing {
        for change in batch.changes where pending.updateValue(change.version, forKey: change.key) == nil {
          pendingBytes += Self.byteCount(change.key)
        }
      }
      // After an overrun the cursor may be overtaken again and again, and reach no version. What it would read the comparison reads.
      if batch.missed > 0 { return true }
      if batch.isAtEnd || cursor.readVersion >= goal {
        covered = cursor.readVersion
        return mustCompare || store == nil || !pending.isEmpty
      }
    }
  }

  /// Inside a comparison changes are collected: they come after what it has looked at.
  var isComparing = false

  /// Brings the store to the newest version, and says that it is durable.
  ///
  /// Blocks for the disk. What fails has changed nothing, neither in the store nor in what is said to be durable, and may be
  /// tried again. After `inputOutput` and `damaged` a new file is written.
  public func sync() throws(StoreError) {
    do throws(StoreError) {
      try storeChanges()
      try tell(.kept)
    } catch {
      giveUp(after: error)
      throw error
    }
  }

  /// Says that the table is not stored, and leaves a file that proves nothing any more: the next sync writes another.
  private func giveUp(after error: StoreError) {
    let isBroken = error.code == .inputOutput || error.code == .damaged
    // Of a file that was put there meanwhile, and could not be opened, nothing is relied upon so far.
    let wasOpen = store != nil
    if isBroken {
      // What a failed sync has left on the disk nobody knows: not a byte of it is relied upon, or written, again.
      if let store { brokenGeneration = store.generation }
      store?.close(isBroken: true)
      store = nil
    }
    try? tell(isBroken && wasOpen || segment.keeping == .broken ? .broken : .failed)
  }

  private func storeChanges() throws(StoreError) {
    try leaveMovedStore()
    try collect()
    guard let store, !mustCompare else { return try compare() }
    guard !pending.isEmpty else {
      if mustProve { try store.commitAgain() }
      return try publish(covered)
    }
    guard let (entries, version) = try copyPending() else { return try compare() }
    try store.append(entries, applied: version)
    forgetPending(upTo: version)
    try publish(version)
  }

  /// Does a part of what makes the store smaller, if that is due: some tens of milliseconds.
  ///
  /// What fails is treated as in ``sync()``: after `inputOutput`, or `damaged` for a row that is not whole any more, the next
  /// sync writes a new file from memory. For want of room on the disk it is left for the next call: what is stored is stored without it, and
  /// storing needs less room.
  /// - Returns: whether there is more to do.
  public func tidy() throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try store?.fold(keyCount: segment.keyCount, capacityBytes: table.capacityBytes) ?? false
    } catch {
      if error.code == .noSpace { return false }
      giveUp(after: error)
      throw error
    }
  }

  /// What happened since the last call.
  public func takeEvents() -> [Event] {
    defer { events = [] }
    return events
  }

  // MARK: - Parts

  /// What the pending keys are at one version: all that changed up to it is among them.
  /// - Returns: nil if the log was overwritten meanwhile.
  func copyPending() throws(StoreError) -> (entries: [StoredEntry], version: UInt64)? {
    // No expiry is judged: what has expired is swept by a barrier, and that is a change.
    let section = try reading { () throws(EngineError) in
      try segment.beginRead(timeoutNanoseconds: Self.sectionNanoseconds, now: 0)
    }
    defer { segment.endRead(section) }
    // The log up to the section's version, which is committed and so in it. What is newer stays for the next time.
    try collect()
    if mustCompare, !isComparing { return nil }
    var entries: [StoredEntry] = []
    entries.reserveCapacity(pending.count)
    for key in pending.keys {
      let found = try unsafe key.withBytes { bytes throws(StoreError) in
        try reading { () throws(EngineError) in try unsafe segment.find(bytes, section, clock) }
      }
      entries.append(StoredEntry(key: key, found: found))
    }
    return (entries, section.snapshot)
  }

  func forgetPending(upTo version: UInt64) {
    pending = pending.filter { $0.value > version }
    pendingBytes = pending.keys.reduce(0) { $0 + Self.byteCount($1) }
  }

  private func forgetAllPending() { (pending, pendingBytes) = ([:], 0) }

  /// What a key takes among the pending ones.
  private static func byteCount(_ key: [UInt8]) -> Int { key.count + 64 }

  func restartLog() {
    cursor = segment.changeCursor()
    forgetAllPending()
    mustCompare = false
  }

  func note(_ event: Event) { events.append(event) }

  /// What the store holds is synced, and no key changed between its version and this one.
  func publish(_ version: UInt64) throws(StoreError) {
    mustProve = false
    try reading { () throws(EngineError) in try segment.publishDurable(version) }
  }

  private func tell(_ state: DurabilityState) throws(StoreError) {
    if segment.keeping == state { return }
    try reading { () throws(EngineError) in try segment.setKeeping(state) }
  }

  /// Gives the table's error its name.
  func reading<R>(_ body: () throws(EngineError) -> R) throws(StoreError) -> R {
    do throws(EngineError) {
      return try body()
    } catch {
      throw StoreError(TableError(error, table: table.name), store?.path ?? directory.path)
    }
  }
}
