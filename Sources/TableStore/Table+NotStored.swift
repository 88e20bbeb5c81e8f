public import SharedTable
import TableEngine

extension Table {
  /// Notes in the table that no daemon stores it, if it says that one does. A thread that waits until a version is on the disk then gets
  /// `notDurable` at once, and does not wait in vain. That the file of its store is broken stays noted, for the daemon that may be told to
  /// store it again.
  public func noteNotStored() {
    if segment.keeping != .none, segment.keeping != .broken { try? segment.setKeeping(.none) }
  }
}
