import SharedTable
import TableEngine

extension Table {
  /// Makes this the keeper of the table's store, until the last reference to the lock goes.
  /// - Parameter directory: where the store is to lie.
  /// - Throws: `inUse` if the table has a keeper, with whichever directory.
  func lockForKeeper(_ directory: StoreDirectory) throws(StoreError) -> KeeperLock {
    do throws(EngineError) {
      if let lock = try segment.lockForKeeper() { return lock }
    } catch {
      throw StoreError(TableError(error, table: name), directory.path)
    }
    throw StoreError(
      .inUse, directory.path, "another process keeps the store of table '\(name)'; \(StoreError.oneKeeper)")
  }
}
