public import SharedTable
import TableEngine

extension Table {
  /// Says that nobody stores the table, where it says that somebody does: who waits until something is on the disk is told so at once,
  /// and does not wait in vain.
  public func noteNotStored() {
    if segment.keeping != .none { try? segment.setKeeping(.none) }
  }
}
