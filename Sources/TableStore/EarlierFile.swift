/// What a file of a lower number is to a table's newer store.
enum EarlierFile {
  /// Its making never ended.
  case unfinished
  case damaged
  /// A whole store of the same table, as it was at a version.
  case ofThisTable(applied: UInt64)
  /// A whole store of a table that had the same name.
  case ofAnother
  /// Neither is known.
  case unreadable(StoreError)

  /// Looks into a file and leaves its contents as they are.
  /// - Parameters:
  ///   - uuid: the newer store's table.
  ///   - disk: the name of a VFS; nil: the system's.
  init(_ path: String, _ generation: UInt64, ofTable uuid: (UInt64, UInt64), _ disk: String?) {
    do throws(StoreError) {
      guard let store = try Store.open(path, generation, disk) else {
        self = .unfinished
        return
      }
      defer { store.close(isBroken: true) }
      self = store.uuid == uuid ? .ofThisTable(applied: store.applied) : .ofAnother
    } catch {
      self = error.code == .damaged ? .damaged : .unreadable(error)
    }
  }
}
