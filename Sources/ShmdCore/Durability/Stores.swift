import Logging
import SharedMemory
import SharedTable
import Synchronization
import TableStore

/// The keepers of the durable tables' stores, a thread each. The table thread says which there are to be; it waits for the disk
/// only where a table comes back.
public final class Stores: Sendable {
  private let log: Logger
  private let state = Mutex(State())
  private let comparisons: ComparisonNotices

  private struct State {
    var directory = StoreDirectory(Configuration.defaultStoreDirectory)
    /// None that has been stopped.
    var keepers: [String: StoreKeeper] = [:]
    /// Tables that lost their names, and of which the only whole copies may be in memory: they are stored on, or wait for a keeper.
    var unsaved: Set<String> = []
    /// Those of them of whose stores no table could be made, so that they were written anew.
    var rewritten: Set<String> = []
    /// Tables that lost their names, are in their stores alone, and have not come back from there.
    var storedAlone: Set<String> = []
    /// Tables that have no keeper and should have one: tried again in each round.
    var unkept: [String: Unkept] = [:]
    /// Stores that could not be read, or whose table has no room, and until when they are not tried again: a table that cannot
    /// be had is tried for in each round, and reading a large store to its damaged row, or until /dev/shm is full, takes seconds.
    var unreadable: [String: (error: TableError, until: ContinuousClock.Instant)] = [:]
    var unfinished: [String] = []
  }

  private struct Unkept {
    let table: Table
    let mode: StoreMode
    let error: StoreError
    let since: UInt64

    /// Why what was written last would be lost with the table; nil: all of it is stored.
    var obstacleToRestoring: StoreError? { table.version > table.durableVersion ? error : nil }
  }

  private static let pauseAfterFailure = Duration.seconds(60)
  private static let longLag = Duration.seconds(10)

  /// Starts a keeper; throws if there is no thread for it.
  typealias KeeperStart =
    @Sendable (
      Table, StoreMode, StoreDirectory, @escaping @Sendable (StoreKeeper.Event) -> Void
    ) throws(StoreError) -> StoreKeeper
  private let startKeeper: KeeperStart

  public convenience init(log: Logger) {
    self.init(log: log) { table, mode, directory, report throws(StoreError) in
      try StoreKeeper(table, mode, in: directory, report: report)
    }
  }

  /// - Parameter startKeeper: otherwise than the daemon does it, for tests.
  init(log: Logger, startKeeper: @escaping KeeperStart) {
    self.log = log
    comparisons = ComparisonNotices(log)
    self.startKeeper = startKeeper
  }

  /// From here on stores lie in `directory`; one that could not be read, or did not fit, is tried again at once.
  func use(_ directory: String) {
    state.withLock { state in
      state.directory = StoreDirectory(directory)
      state.unreadable = [:]
    }
  }

  /// Tables that this configuration does not store may go unsaved.
  func forgetUnsaved(except configuration: Configuration) {
    let durable = configuration.tables.filter { $0.durability.mode != nil }.map(\.name)
    state.withLock { state in
      state.unsaved.formIntersection(durable)
      state.rewritten.formIntersection(durable)
      state.storedAlone.formIntersection(durable)
    }
  }

  /// Why the stores cannot lie where a new configuration says; nil if they can.
  ///
  /// A table that is stored in one directory and to be stored in another would be written there anew, or onto a copy of its files that is older than
  /// what is said to be durable. If the host went down before that is done, what was durable would be lost.
  func obstacle(to configuration: Configuration) -> String? {
    let (old, stored) = state.withLock { state in
      (state.directory, state.storedAlone.union(state.keepers.keys).union(state.unkept.keys))
    }
    let new = StoreDirectory(configuration.storeDirectory)
    guard new != old else { return nil }
    let affected = configuration.tables.filter { $0.durability.mode != nil && stored.contains($0.name) }.map(\.name)
    guard let first = affected.first else { return nil }
    let tables = affected.count > 1 ? "'\(first)' and \(affected.count - 1) more are" : "'\(first)' is"
    return "\(tables) stored in \(old.path), and 'store-directory' says \(new.path); leave it as it was, or stop shmd, "
      + "move the files, and start it"
  }

  /// What a store's rows may be refused for: there are too many, or one is too large or damaged.
  private static let codesOfRows: Set<TableError.Code> = [.full, .tooLarge, .invalid, .damaged]

  /// A durable table that is to be made, from its store.
  ///
  /// A store that could not be read, or did not fit, is not looked at again for a minute: the error of then is thrown.
  /// - Parameter goesOn: asked at times while the store is read; if it says no, nothing is made.
  /// - Returns: nil if it has none yet, or is not durable.
  func restore(
    _ configuration: TableConfiguration, goesOn: () -> Bool = { true }
  ) throws(TableError) -> Table? {
    guard configuration.durability.mode != nil else { return nil }
    if let failure = state.withLock({ $0.unreadable[configuration.name] }), ContinuousClock.now < failure.until {
      throw failure.error
    }
    // Its name was taken away: what was in it goes into the store before it comes back.
    if let saved = try save(configuration.name, { _ = goesOn() }) {
      do throws(TableError) {
        return try restore(configuration, after: saved, goesOn)
      } catch {
        // All of it is stored, and in memory it may take the room that the new one needs: there it is let go.
        guard error.code == .full else { throw error }
      }
    }
    return try restore(configuration, after: nil, goesOn)
  }

  /// - Parameter saved: the keeper that has stored all of the table before, and still holds it.
  private func restore(
    _ configuration: TableConfiguration, after saved: StoreKeeper?, _ goesOn: () -> Bool
  ) throws(TableError) -> Table? {
    try Plan.requireRoom(for: configuration)
    let (directory, wasRewritten) = state.withLock { ($0.directory, $0.rewritten.contains(configuration.name)) }
    do throws(StoreError) {
      let table = try Table.restore(configuration.name, configuration.options, from: directory, goesOn: goesOn)
      state.withLock { state in
        state.rewritten.remove(configuration.name)
        state.storedAlone.remove(configuration.name)
      }
      guard let table else { return nil }
      log.notice("table restored from its store", metadata: ["table": "\(table.name)", "keys": "\(table.count)"])
      return table
    } catch {
      // What stands against the table without a row read is looked at again at once.
      if let error = error.tableError, !Self.codesOfRows.contains(error.code) { throw error }
      var failure = error.tableError ?? TableError(.system, table: configuration.name, "its store: \(error)")
      if let saved {
        // Tried again at once, with more room.
        if failure.code == .full { throw failure }
        if error.code == .damaged || error.code == .inputOutput {
          failure = storeAnew(saved, after: error)
          // The next round finds another file. Where no table can be made of that one either, the disk needs time, or a person.
          if !wasRewritten { throw failure }
        }
      }
      let until = ContinuousClock.now + Self.pauseAfterFailure
      state.withLock { $0.unreadable[configuration.name] = (failure, until) }
      throw failure
    }
  }

  /// The last sync of a table that has lost its name succeeded, and no table can be made of the file all the same: the only whole copy is in memory.
  /// Its keeper begins again, and writes another file.
  /// - Parameter keeper: it has ended.
  /// - Returns: what is said of the table until it comes back.
  private func storeAnew(_ keeper: StoreKeeper, after error: StoreError) -> TableError {
    let table = keeper.table
    table.noteStoreBroken()
    state.withLock { _ = $0.rewritten.insert(table.name) }
    beginAgain(keeper)
    return TableError(
      .system, table: table.name,
      "lost its name, and no table can be made of its store; shmd writes another one from memory, from which it comes back; until then do "
        + "not stop shmd; the store: \(error.besideTable)")
  }

  /// Stores what is left of a table that has lost its name, if it has a keeper or waits for one, and ends that.
  /// - Returns: the keeper that has ended, if its last sync has put all of the table into the store.
  /// - Throws: why it cannot be stored. What is in memory is all there is then: the table stays there, and is stored on, or waits for a keeper.
  private func save(_ name: String, _ beat: () -> Void) throws(TableError) -> StoreKeeper? {
    guard let keeper = try keeperToSave(name) else { return nil }
    let isUnsaved = state.withLock { $0.unsaved.contains(name) }
    if isUnsaved, let error = keeper.status.obstacleToRestoring { throw Self.unsaved(name, error) }
    keeper.stopAndWait(beat)
    if let obstacle = keeper.status.obstacleToRestoring {
      beginAgain(keeper)
      throw Self.unsaved(name, obstacle)
    }
    state.withLock { state in
      state.keepers[name] = nil
      state.unsaved.remove(name)
      state.storedAlone.insert(name)
    }
    return keeper.status.error == nil ? keeper : nil
  }

  /// The keeper of a table that has lost its name, or one for it if it has none and something is not stored.
  private func keeperToSave(_ name: String) throws(TableError) -> StoreKeeper? {
    let (keeper, unkept, isUnsaved) = state.withLock { ($0.keepers[name], $0.unkept[name], $0.unsaved.contains(name)) }
    guard keeper == nil, let unkept else { return keeper }
    guard isUnsaved || unkept.obstacleToRestoring != nil else {
      letGo(name)
      return nil
    }
    state.withLock { _ = $0.unsaved.insert(name) }
    keep(unkept.table, unkept.mode)
    let (made, error) = state.withLock { ($0.keepers[name], $0.unkept[name]?.error) }
    if let error { throw Self.unsaved(name, error) }
    return made
  }

  /// A keeper that was stopped stores no more: another one begins in its place. Where none can be had, the table waits for it.
  private func beginAgain(_ keeper: StoreKeeper) {
    let name = keeper.table.name
    state.withLock { state in
      state.keepers[name] = nil
      state.unsaved.insert(name)
    }
    keep(keeper.table, keeper.mode)
  }

  /// Has a table that lost its name, and cannot be made again yet, be stored on. However well the last sync went, what is in
  /// memory may be the only whole copy: no sync reads rows that it does not change, and one may be damaged.
  private func keepUnsaved(_ name: String) {
    let (isNews, unkept) = state.withLock { ($0.unsaved.insert(name).inserted, $0.unkept[name]) }
    if isNews {
      log.warning("table that lost its name kept in memory until it can be made again", metadata: ["table": "\(name)"])
    }
    if let unkept { keep(unkept.table, unkept.mode) }
  }

  private func letGo(_ name: String, _ beat: () -> Void = {}) {
    let (keeper, unkept) = state.withLock { state in
      state.unsaved.remove(name)
      state.rewritten.remove(name)
      return (state.keepers.removeValue(forKey: name), state.unkept.removeValue(forKey: name))
    }
    keeper?.stopAndWait(beat)
    guard let table = keeper?.table ?? unkept?.table else { return }
    table.noteNotStored()
    if !table.administration.isNamed, let error = keeper?.status.obstacleToRestoring ?? unkept?.obstacleToRestoring {
      log.error(
        "table that lost its name let go, what was not stored is lost",
        metadata: ["table": "\(name)", "problem": "\(error)"])
    }
  }

  private static func unsaved(_ name: String, _ error: StoreError) -> TableError {
    TableError(
      .system, table: name,
      "lost its name before all of it was stored, and comes back when it is; until then it is in shmd's memory alone, so do not stop "
        + "shmd; its store: \(error)")
  }

  /// Keeps the stores of these tables and of no others.
  /// - Parameters:
  ///   - waiting: tables that cannot be had just now. One of them may be in memory alone: it is stored on.
  ///   - beat: called at times while a store is let go, which may take as long as the disk does.
  func follow(
    _ tables: [(configuration: TableConfiguration, table: Table)], waiting: [TableConfiguration] = [],
    _ beat: () -> Void = {}
  ) {
    let durable = tables.filter { $0.configuration.durability.mode != nil }
    let (held, unsaved) = state.withLock { state in
      (state.keepers.mapValues(\.table).merging(state.unkept.mapValues(\.table)) { kept, _ in kept }, state.unsaved)
    }
    for (name, table) in held where !durable.contains(where: { $0.table === table }) {
      // It cannot come back where another table has its name.
      let mayComeBack = !tables.contains { $0.table.name == name && $0.table !== table }
      let isWaiting = waiting.contains { $0.name == name && $0.durability.mode != nil }
      if mayComeBack, isWaiting || unsaved.contains(name) { keepUnsaved(name) } else { letGo(name, beat) }
    }
    // Also of a table that an earlier daemon stored.
    for (configuration, table) in tables where configuration.durability.mode == nil {
      table.noteNotStored()
      beat()
    }
    for (configuration, table) in durable { keep(table, configuration.durability.mode!) }
    comparisons.sayNumbers()
  }

  /// Keeps the store of a table that has just come into care, while others are still being made: reading their stores may take minutes.
  func begin(_ configuration: TableConfiguration, _ table: Table) {
    guard let mode = configuration.durability.mode else { return }
    keep(table, mode)
  }

  private func keep(_ table: Table, _ mode: StoreMode) {
    let name = table.name
    let (known, directory) = state.withLock { ($0.keepers[name], $0.directory) }
    if let keeper = known {
      if keeper.mode != mode { keeper.mode = mode }
      return
    }
    // Of a table before that another one has taken the name of.
    if let unkept = state.withLock({ $0.unkept[name] }), unkept.table !== table { letGo(name) }
    do throws(StoreError) {
      let keeper = try makeKeeper(table, mode, in: directory)
      state.withLock { state in
        (state.keepers[name], state.unkept[name]) = (keeper, nil)
        state.storedAlone.remove(name)
      }
    } catch {
      let isKnown = state.withLock { state in
        let since = state.unkept[name]?.since ?? HostClock.monotonicNanoseconds
        return state.unkept.updateValue(Unkept(table: table, mode: mode, error: error, since: since), forKey: name)
          != nil
      }
      table.noteNotStored(isToBe: true)
      if !isKnown { log.error("table not stored", metadata: ["table": "\(name)", "problem": "\(error)"]) }
    }
  }

  private func makeKeeper(
    _ table: Table, _ mode: StoreMode, in directory: StoreDirectory
  ) throws(StoreError) -> StoreKeeper {
    if !HostProcess.hasDescriptorReserve { throw .wantOfDescriptors(directory) }
    let (name, log, comparisons) = (table.name, log, comparisons)
    return try startKeeper(table, mode, directory) { Self.say($0, name, log, comparisons) }
  }

  private static func say(
    _ event: StoreKeeper.Event, _ table: String, _ log: Logger, _ comparisons: ComparisonNotices
  ) {
    switch event {
    case .newFile: log.info("store written anew", metadata: ["table": "\(table)"])
    case .compared: comparisons.note(table)
    case .failed(let error):
      log.error(
        "table not stored, it goes on in memory", metadata: ["table": "\(table)", "problem": "\(error)"])
    case .recovered: log.notice("table stored again", metadata: ["table": "\(table)"])
    }
  }

  /// Where each stands, also one that no keeper could be had for, in the order of their names.
  var statuses: [(table: String, status: StoreStatus)] {
    let (keepers, unkept) = state.withLock { ($0.keepers, $0.unkept) }
    return Self.statuses(keepers, unkept)
  }

  private static func statuses(
    _ keepers: [String: StoreKeeper], _ unkept: [String: Unkept]
  ) -> [(table: String, status: StoreStatus)] {
    let lacking = unkept.mapValues { StoreStatus(unkept: $0.table, $0.mode, $0.error, since: $0.since) }
    return keepers.mapValues(\.status).merging(lacking) { kept, _ in kept }.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value) }
  }

  /// What is wrong just now, for the status line.
  var troubles: [String] { statuses.compactMap { name, status in Self.trouble(of: name, status) } }

  static func trouble(of name: String, _ status: StoreStatus) -> String? {
    if let error = status.error { return complaint(name, error) }
    if status.overdue > longLag { return "'\(name)' is stored late" }
    let busy = status.busy
    return busy > longLag ? "'\(name)' has waited for its store's disk for \(busy.components.seconds) s" : nil
  }

  private static func complaint(_ name: String, _ error: StoreError) -> String { "'\(name)' is not stored: \(error)" }

  /// A last sync of all, side by side; returns when they are over. ``unfinished`` tells which failed.
  func stop() async {
    let (keepers, unkept) = state.withLock { state in
      defer { state.keepers = [:] }
      return (state.keepers, state.unkept)
    }
    await withTaskGroup(of: Void.self) { group in
      for keeper in keepers.values {
        group.addTask { await withCheckedContinuation { done in keeper.stop { done.resume() } } }
      }
    }
    let unfinished = Self.statuses(keepers, unkept).compactMap { name, status in
      status.error.map { Self.complaint(name, $0) }
    }
    state.withLock { $0.unfinished = unfinished }
  }

  /// What ``stop()`` could not store.
  var unfinished: [String] { state.withLock { $0.unfinished } }
}
