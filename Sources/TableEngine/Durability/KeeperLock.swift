import SharedMemory

/// Makes a process the only keeper of a table's store: it alone stores to the words `durable` and `keeping`.
///
/// A lock of the control object by an open file description of its own, apart from the flock under which tables are made and
/// dropped. The kernel takes it back however the process ends. It belongs to the table and not to a store's file: two keepers
/// with two directories would each call durable what only its own file holds.
///
/// A child that is forked meanwhile shares it until it runs another program or ends. The daemon forks none.
public final class KeeperLock: Sendable {
  // Held by it: with the last reference its descriptor goes, and the lock with that.
  private let control: SharedObject

  init(_ control: SharedObject) { self.control = control }
}

extension Segment {
  /// For how long a keeper waits for one that is just ending, or for who notes that nobody keeps the table.
  private static let keeperLockNanoseconds: UInt64 = 100_000_000

  /// Makes this the keeper of the table's store, until the last reference to the lock goes. Also of a table that has lost its name.
  /// - Parameter waits: false asks once, for who must not wait.
  /// - Returns: nil if the table has a keeper.
  public func lockForKeeper(waits: Bool = true) throws(EngineError) -> KeeperLock? {
    let participant = try requireParticipant()
    do throws(SystemError) {
      let control = try participant.object.reopened()
      let most = waits ? Self.keeperLockNanoseconds : 0
      guard try control.lockMemory(.exclusive, timeoutNanoseconds: most) else { return nil }
      return KeeperLock(control)
    } catch {
      throw .system(error)
    }
  }
}
