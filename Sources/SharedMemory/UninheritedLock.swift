import CShims
import Glibc

/// An exclusive lock of an object (flock) that no child which is forked meanwhile has a part in: it ends with this, or with the process.
///
/// A lock belongs to an open file description, which a child shares by its copy of the descriptor and of each mapping: the child of a
/// killed parent would hold it on. So this opens the object once more, never maps that, and has a child close its copy before fork returns there.
/// In the child this belongs to a thread that is not there: nobody closes the number again. But a thread that forks while it has one itself
/// must do nothing in the child but exec or `_exit`.
///
/// No more than 64 locks of a process are kept so at once. Of a further one a child may have a copy. So may a child that is forked inside a section of
/// liburcu, which does not wait for ``ForkLock``, in the moment in which this opens the object.
public final class UninheritedLock: Sendable {
  private let own: SharedObject

  /// Does not lock yet.
  /// - Returns: nil if the name does not lead to the object any more.
  public init?(of object: SharedObject, name: String) throws(SystemError) {
    let opened = ForkLock.hold {
      Result { () throws(SystemError) in
        let own = try SharedObject.open(name: name, writable: false)
        _ = shm_fork_close_in_child(own.descriptor)
        return own
      }
    }
    do throws(SystemError) { own = try opened.get() } catch {
      if error.errno == ENOENT { return nil }
      throw error
    }
    guard try own.status().isSameObject(as: object.status()) else { return nil }
  }

  /// Tries once: false when another has it.
  public func tryLock() throws(SystemError) -> Bool { try own.tryLock(.exclusive) }

  /// Waits for it; false when the time is over.
  public func lock(timeoutNanoseconds: UInt64) throws(SystemError) -> Bool {
    try own.lock(.exclusive, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// A child that has a copy all the same must not keep the lock: so it is unlocked, not only closed.
  deinit {
    try? own.unlock()
    shm_fork_leave_to_child(own.descriptor)
  }
}
