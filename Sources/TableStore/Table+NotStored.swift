public import SharedTable
import TableEngine

extension Table {
  /// Notes in the table that no daemon stores it, if it says that one does. A thread that waits until a version is on the disk then gets
  /// `notDurable` at once, and does not wait in vain. That the file of its store is broken stays noted, for the daemon that may be told to
  /// store it again. Where another process keeps its store, that is not so, and nothing is noted. Does not wait.
  /// - Parameter isToBe: a daemon is to store it and cannot begin: then the table says so, as of a store that fails.
  public func noteNotStored(isToBe: Bool = false) {
    let state: DurabilityState = isToBe ? .failed : .none
    if segment.keeping == state || segment.keeping == .broken { return }
    guard let lock = try? segment.lockForKeeper(waits: false) else { return }
    withExtendedLifetime(lock) {
      // Its keeper may have noted more before it ended.
      if segment.keeping != .broken { try? segment.setKeeping(state) }
    }
  }

  /// Notes in the table that no table can be made of its store, though the last sync of its keeper, which has ended, succeeded. The next keeper
  /// then writes another file from memory, instead of going on with this one. Where another process keeps the store, nothing is noted. Does not
  /// wait.
  public func noteStoreBroken() {
    guard let lock = try? segment.lockForKeeper(waits: false) else { return }
    withExtendedLifetime(lock) { try? segment.setKeeping(.broken) }
  }
}
