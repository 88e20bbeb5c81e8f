import CShims

/// What a table is to hold from its first moment on: it comes back from a store.
///
/// The loader runs before anybody else can see the table, not even an observer: *data* has no magic number yet. A process
/// that dies meanwhile leaves a half-made table, which the next creator removes.
public struct TableLoad {
  /// Every version that the table hands out is above this one, and every entry's is at most this.
  public var base: UInt64
  /// Puts the entries there. An error of it ends the creation.
  public var fill: (Loader) throws(EngineError) -> Void

  public init(base: UInt64, fill: @escaping (Loader) throws(EngineError) -> Void) {
    self.base = base
    self.fill = fill
  }

  /// What slots' words and markers leave of a version.
  static let highestBase: UInt64 = 1 << 60
}

/// Puts entries with versions of their own into a table that nobody else can see.
///
/// Its transactions commit versions above the base as any barrier's do. Only the entries in them, and their records in the
/// change log, bear other versions, and the log is emptied at the end.
public final class Loader {
  private static let batch = 512
  private let state: TableState
  private let base: UInt64
  /// The table's.
  public let uuid: (UInt64, UInt64)
  private var open = 0

  init(_ state: TableState, base: UInt64, uuid: (UInt64, UInt64)) throws(EngineError) {
    guard base < TableLoad.highestBase else { throw .unsupported("a table that begins at version \(base)") }
    self.state = state
    self.base = base
    self.uuid = uuid
    state.data.storeRelaxed(TableState.keyCountWord(base), 0)
    state.data.storeRelaxed(DataLayout.committed, base)
  }

  /// Stores a key's value; one that was stored before is replaced.
  public func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes, version: UInt64
  ) throws(EngineError) {
    guard key.count > 0, key.count <= Entry.maximumKeyLength else { throw .keyLength(key.count) }
    guard value.count <= state.geometry.maximumValueLength else {
      throw .valueTooLarge(value.count, maximum: state.geometry.maximumValueLength)
    }
    guard version <= base else { throw .damaged("an entry of version \(version) in a store that ends at \(base)") }
    begin()
    let own = state.version
    state.version = version
    defer { state.version = own }
    try unsafe Transaction(state: state).put(key, hash: hash(key), value, attributes)
  }

  /// Removes a key that was stored before.
  public func remove(_ key: UnsafeRawBufferPointer) throws(EngineError) {
    guard key.count > 0, key.count <= Entry.maximumKeyLength else { throw .keyLength(key.count) }
    begin()
    _ = try unsafe Transaction(state: state).remove(key, hash: hash(key))
  }

  /// The version that the table will be at.
  public func finish() -> UInt64 {
    commit()
    Collector(state: state).collectAll()
    state.log.forgetAll()
    return state.committed
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

extension ChangeLog {
  /// Goes on as if everything up to here had been pushed out: who resumes from an earlier version is told that it missed
  /// something, also where nothing was ever appended.
  fileprivate func forgetAll() {
    let end = max(endPosition, UInt64(byteCount))
    let ordinal = max(endOrdinal, 1)
    data.storeRelease(DataLayout.logTailPosition, end)
    data.storeRelaxed(DataLayout.logEndOrdinal, ordinal)
    data.storeRelease(DataLayout.logEndPosition, end)
  }
}
