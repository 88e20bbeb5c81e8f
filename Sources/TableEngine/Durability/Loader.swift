import CShims

/// Puts entries with versions of their own into a table that nobody else can see.
///
/// It stores each key once and replaces nothing: what is replaced would keep its memory until the transaction is over, and the table might
/// be too small for entries that fit into it.
///
/// Its transactions commit versions above the base as any barrier's do. Only the entries in them, and their records in the
/// change log, bear other versions, and the log is emptied at the end.
public final class Loader {
  private static let batch = 512
  private let state: WriterState
  private let base: UInt64
  /// The table's.
  public let uuid: (UInt64, UInt64)
  private var open = 0

  init(_ state: WriterState, base: UInt64, uuid: (UInt64, UInt64)) throws(EngineError) {
    guard base < TableLoad.highestBase else {
      throw .unsupported(
        "a table that begins at version \(base)",
        instead: "restore its store from a backup, or move the store away")
    }
    self.state = state
    self.base = base
    self.uuid = uuid
    state.data.storeRelaxed(WriterState.keyCountWord(base), 0)
    state.data.storeRelaxed(DataLayout.committed, base)
  }

  /// Stores a key's value, if none was stored under the key before.
  public func putIfAbsent(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes, version: UInt64
  ) throws(EngineError) {
    try Entry.check(keyLength: key.count)
    try Entry.check(valueLength: value.count, maximum: state.geometry.maximumValueLength)
    guard version <= base else { throw .damaged("an entry of version \(version) in a store that ends at \(base)") }
    do throws(EngineError) {
      try unsafe put(key, value, attributes, version)
    } catch {
      // What earlier splits of the index have retired is free once they are committed.
      guard case .full = error, open > 1 else { throw error }
      commit()
      Collector(state: state).collectAll()
      try unsafe put(key, value, attributes, version)
    }
  }

  private func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes, _ version: UInt64
  ) throws(EngineError) {
    begin()
    let own = state.version
    state.version = version
    defer { state.version = own }
    _ = try unsafe Transaction(state: state).put(key, hash: hash(key), value, attributes) { $0 == 0 }
  }

  /// Whether a value was stored under the key before.
  public func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    guard Entry.isKeyLength(key.count) else { return false }
    return unsafe state.lookup.newest(key.baseAddress!, key.count, hash: hash(key)) != 0
  }

  /// The version that the table will be at.
  public func finish() -> UInt64 {
    commit()
    Collector(state: state).collectAll()
    state.log.forgetAll(upTo: state.committed)
    return state.committed
  }

  /// Says what the table's store holds, before anybody can ask the table: up to which version, and that it follows the table.
  public func markStored(upTo version: UInt64) {
    state.data.storeRelaxed(DataLayout.durable, version)
    state.data.storeRelaxed(DataLayout.keeping, DurabilityState.kept.rawValue)
  }

  private func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    unsafe shm_hash(key.baseAddress!, key.count, state.hashSeed)
  }

  private func begin() {
    if open == Self.batch { commit() }
    if open == 0 { Transaction(state: state).begin() }
    open += 1
  }

  private func commit() {
    guard open > 0 else { return }
    Transaction(state: state).commit()
    open = 0
    Collector.reclaim(state)
  }
}
