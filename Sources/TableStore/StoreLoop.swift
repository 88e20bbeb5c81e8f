import SharedMemory
import SharedTable
import TableEngine

/// What a keeper's thread does, step by step: by itself it never sleeps.
struct StoreLoop {
  /// What to do until the next step.
  enum Pause: Equatable {
    case none
    case time(UInt64)
    /// Until something above this version is committed, or for so long.
    case untilCommit(UInt64, UInt64)
  }

  private let table: Table
  private let directory: StoreDirectory
  private let disk: String?
  /// From the first step on that finds nobody else keeping the table's store: also while the follower cannot be had.
  private var lock: KeeperLock?
  private var follower: Follower?
  /// Why nothing can be stored just now, and since when something waits.
  private(set) var status = StoreStatus()
  private var events: [StoreKeeper.Event] = []
  /// nil: nothing was stored yet, and the first time is at once, so that a disk that refuses says so before an interval has passed.
  private var lastSync: UInt64?
  /// When it is looked whether the file is there, which a sync does by itself.
  private var nextLook: UInt64 = 0
  private var retryAt: UInt64 = 0
  private var retryPause: UInt64 = 0

  /// The longest that a keeper sleeps: it looks whether the table is there.
  private static let longestPause: UInt64 = 500_000_000
  private static let longestRetryPause: UInt64 = 30_000_000_000
  private static let shortestRetryPause: UInt64 = 250_000_000
  /// How long the last sync is tried for, where a later attempt may succeed.
  private static let longestEnd: UInt64 = 10_000_000_000
  /// When it is given up.
  private var end: UInt64?

  /// - Parameter disk: as in ``Follower/init(_:in:disk:)``.
  init(_ table: Table, _ directory: StoreDirectory, disk: String? = nil) {
    self.table = table
    self.directory = directory
    self.disk = disk
  }

  /// Does what is due.
  /// - Parameter publish: called before the disk is waited for, which may take any time.
  mutating func step(_ mode: StoreMode, publish: (StoreStatus) -> Void = { _ in }) -> Pause {
    let now = HostClock.monotonicNanoseconds
    do throws(StoreError) {
      if now < retryAt {
        // The log is read all the same, so that it does not overrun while the disk is full.
        _ = try follower?.collect()
        return pauseUntil(retryAt, now)
      }
      let follower = try following(now, publish)
      let hasChanges = try follower.collect()
      if !hasChanges { status.waitingSince = nil } else if status.waitingSince == nil { status.waitingSince = now }
      publish(status)
      if hasChanges, now >= nextSync(mode, now) || status.error != nil || hasLostFile(follower, now) {
        try follower.sync()
        (lastSync, status.waitingSince) = (now, nil)
        // Where something changes all the time no step finds nothing to store.
        _ = try tidy(follower, publish)
        recover()
        note()
        return .none
      }
      let isTidying = try tidy(follower, proving: !hasChanges, publish)
      recover()
      note()
      if isTidying { return .none }
      if !hasChanges { return .untilCommit(follower.covered, Self.longestPause) }
      return pauseUntil(nextSync(mode, now), now)
    } catch {
      fail(error, now)
      return pauseUntil(retryAt, now)
    }
  }

  /// A last look, and a last sync if there is anything to store. Where that fails and the next attempt may succeed, as with a new file
  /// after the disk has failed, there are more, for ten seconds.
  /// - Returns: none when it is over; else it is to be called again after the pause.
  mutating func finish() -> Pause {
    let now = HostClock.monotonicNanoseconds
    let end = self.end ?? now &+ Self.longestEnd
    self.end = end
    do throws(StoreError) {
      let follower = try following(now)
      try follower.sync()
      recover()
      status.waitingSince = nil
    } catch {
      fail(error, now)
      return error.mayEndByTryingAgain && now < end ? .time(Self.shortestRetryPause) : .none
    }
    note()
    return .none
  }

  mutating func close() {
    follower?.close()
    (follower, lock) = (nil, nil)
  }

  mutating func takeEvents() -> [StoreKeeper.Event] {
    defer { events = [] }
    return events
  }

  // MARK: - Parts

  private mutating func following(
    _ now: UInt64, _ publish: (StoreStatus) -> Void = { _ in }
  ) throws(StoreError) -> Follower {
    if let follower { return follower }
    // Looking for a store waits for the disk, too.
    if status.waitingSince == nil { status.waitingSince = now }
    publish(status)
    let follower = try Follower(table, in: directory, disk: disk, holding: try keeperLock())
    self.follower = follower
    return follower
  }

  /// A slice of the work that no commit waits for. Since when it goes on is said before: the disk may not answer.
  /// - Parameter isProving: nothing has changed, and what lies there may be unproved.
  private mutating func tidy(
    _ follower: Follower, proving isProving: Bool = false, _ publish: (StoreStatus) -> Void
  ) throws(StoreError) -> Bool {
    status.busySince = HostClock.monotonicNanoseconds
    defer { status.busySince = nil }
    publish(status)
    if isProving { try follower.sync() }
    return try follower.tidy()
  }

  private mutating func keeperLock() throws(StoreError) -> KeeperLock {
    if let lock { return lock }
    let lock = try table.lockForKeeper(directory)
    self.lock = lock
    return lock
  }

  /// When the next sync is due, if there is anything to store.
  private func nextSync(_ mode: StoreMode, _ now: UInt64) -> UInt64 {
    lastSync.map { $0 + mode.interval.clampedNanoseconds } ?? now
  }

  /// Whether the store's file was removed, or moved away: a new one is not put off to the end of an interval.
  private mutating func hasLostFile(_ follower: Follower, _ now: UInt64) -> Bool {
    guard now >= nextLook else { return false }
    nextLook = now + Self.longestPause
    return follower.hasLostFile
  }

  /// While there are changes, the log is read every few milliseconds, the more often the shorter it is: by then a writer that
  /// does nothing but write has filled a part of it.
  private func pauseUntil(_ time: UInt64, _ now: UInt64) -> Pause {
    let log = UInt64(table.segment.geometry.logBytes)
    let reading = min(50_000_000, max(5_000_000, log * 20))
    return .time(time > now ? min(reading, time - now) : reading)
  }

  private mutating func note() {
    for event in follower?.takeEvents() ?? [] {
      switch event {
      case .compared: events.append(.compared)
      case .newFile: events.append(.newFile)
      }
    }
  }

  private mutating func recover() {
    if status.error != nil { events.append(.recovered) }
    (status.error, retryAt, retryPause) = (nil, 0, 0)
  }

  private mutating func fail(_ error: StoreError, _ now: UInt64) {
    if status.error?.code != error.code { events.append(.failed(error)) }
    status.error = error
    if status.waitingSince == nil { status.waitingSince = now }
    // The follower may have said more. Where another process keeps the table's store, what that one says holds.
    if lock != nil, table.segment.keeping != .broken { try? table.segment.setKeeping(.failed) }
    // A disk that failed is asked for a new file at once, the first time.
    retryPause = retryPause == 0 ? Self.shortestRetryPause : min(Self.longestRetryPause, retryPause * 2)
    retryAt = now &+ (error.code == .inputOutput && retryPause == Self.shortestRetryPause ? 0 : retryPause)
    note()
  }
}
