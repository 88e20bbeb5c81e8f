import Logging
import SharedTable
import Synchronization
import TableStore

/// The keepers of the durable tables' stores, a thread each. The table thread says which there are to be; it waits for the disk
/// only where a table comes back.
public final class Stores: Sendable {
  private let log: Logger
  private let state = Mutex(State())

  private struct State {
    var directory = StoreDirectory(Configuration.defaultStoreDirectory)
    var keepers: [String: StoreKeeper] = [:]
  }

  public init(log: Logger) { self.log = log }

  func use(_ directory: String) { state.withLock { $0.directory = StoreDirectory(directory) } }

  /// A durable table that is to be made, from its store.
  /// - Returns: nil if it has none yet, or is not durable.
  func restore(_ configuration: TableConfiguration) throws(TableError) -> Table? {
    guard configuration.durability.mode != nil else { return nil }
    let (directory, before) = state.withLock { ($0.directory, $0.keepers.removeValue(forKey: configuration.name)) }
    // Its name was taken away: what was in it goes into the store before it comes back.
    before?.stopAndWait()
    do throws(StoreError) {
      guard let table = try Table.restore(configuration.name, configuration.options, from: directory) else {
        return nil
      }
      log.notice("table restored from its store", metadata: ["table": "\(table.name)", "keys": "\(table.count)"])
      return table
    } catch {
      throw error.tableError ?? TableError(.system, table: configuration.name, "its store: \(error)")
    }
  }

  /// Keeps the stores of these tables and of no others.
  func follow(_ tables: [(configuration: TableConfiguration, table: Table)]) {
    let durable = tables.filter { $0.configuration.durability.mode != nil }
    let (directory, keepers) = state.withLock { ($0.directory, $0.keepers) }
    for (name, keeper) in keepers {
      let isWanted = durable.contains { $0.table === keeper.table && keeper.directory == directory }
      if isWanted { continue }
      state.withLock { $0.keepers[name] = nil }
      keeper.stopAndWait()
    }
    for (configuration, table) in durable { keep(table, configuration.durability.mode!, directory) }
  }

  private func keep(_ table: Table, _ mode: StoreMode, _ directory: StoreDirectory) {
    let name = table.name
    if let keeper = state.withLock({ $0.keepers[name] }) {
      if keeper.mode != mode { keeper.mode = mode }
      return
    }
    let log = log
    do throws(StoreError) {
      let keeper = try StoreKeeper(table, mode, in: directory) { Self.say($0, name, log) }
      state.withLock { $0.keepers[name] = keeper }
    } catch {
      log.error("table not stored", metadata: ["table": "\(name)", "problem": "\(error)"])
    }
  }

  private static func say(_ event: StoreKeeper.Event, _ table: String, _ log: Logger) {
    switch event {
    case .newFile: log.info("store written anew", metadata: ["table": "\(table)"])
    case .compared: log.notice("store compared with its table", metadata: ["table": "\(table)"])
    case .failed(let error):
      log.error(
        "table not stored, it goes on in memory", metadata: ["table": "\(table)", "problem": "\(error)"])
    case .recovered: log.notice("table stored again", metadata: ["table": "\(table)"])
    }
  }

  /// What is wrong just now, for the status line; nil: nothing.
  var trouble: String? {
    let keepers = state.withLock { $0.keepers }
    let failed = keepers.filter { $0.value.status.error != nil }.keys.sorted()
    let late = keepers.filter { $0.value.status.error == nil && $0.value.status.lag > .seconds(10) }.keys.sorted()
    let parts = [
      failed.isEmpty ? nil : "not stored: \(failed.joined(separator: " "))",
      late.isEmpty ? nil : "stored late: \(late.joined(separator: " "))",
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// A last sync of all, side by side; returns when they are over.
  func stop() async {
    let keepers = state.withLock { state in
      defer { state.keepers = [:] }
      return Array(state.keepers.values)
    }
    await withTaskGroup(of: Void.self) { group in
      for keeper in keepers {
        group.addTask { await withCheckedContinuation { done in keeper.stop { done.resume() } } }
      }
    }
  }
}
