import CShims
import SharedMemory
import Synchronization
import TableEngine

/// Handles by name, read without a lock: an immutable dictionary that changes by being replaced.
///
/// liburcu's read-copy-update (its *bp* flavour, whose readers need no registration and may be any GCD thread):
/// lookups run in read-side sections; a change publishes a new dictionary, waits until no lookup can still see the old
/// one, and lets it go. Process-local: nothing of liburcu works on memory shared between processes.
@safe
final class HandleRegistry: @unchecked Sendable {
  // Sendable because `current` is only loaded in read-side sections and only replaced under `changes`.
  static let shared = HandleRegistry()

  private final class Handles: Sendable {
    let byName: [String: Table]
    init(_ byName: [String: Table]) { self.byName = byName }
  }

  private let current: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private let changes = Mutex(())

  private init() {
    unsafe current = .allocate(capacity: 1)
    unsafe current.initialize(to: Unmanaged.passRetained(Handles([:])).toOpaque())
  }

  /// The handle that can be used now. One that was inherited through fork, or whose table was dropped, does not count, and is forgotten.
  ///
  /// Waits for nobody unless it forgets one.
  func find(_ name: String) -> Table? {
    guard let table = handle(name) else { return nil }
    if table.isCurrent { return table }
    replace { byName in
      if byName[name] === table { byName.removeValue(forKey: name) }
    }
    return nil
  }

  private func handle(_ name: String) -> Table? {
    shm_rcu_read_lock()
    defer { shm_rcu_read_unlock() }
    // PAIR rcu-pointer. Other end: HandleRegistry.replace. The section keeps the dictionary until the copy of the reference is
    // ours.
    return unsafe handles(shm_rcu_dereference(current)).byName[name]
  }

  /// The handle that the name has from now on: the given one, unless another thread was faster.
  func enter(_ table: Table) -> Table {
    replace { byName in
      if let existing = byName[table.name], existing.isCurrent { return existing }
      byName[table.name] = table
      return table
    }
  }

  func remove(_ name: String) { replace { byName in _ = byName.removeValue(forKey: name) } }

  private func handles(_ pointer: UnsafeMutableRawPointer?) -> Handles {
    unsafe Unmanaged<Handles>.fromOpaque(pointer!).takeUnretainedValue()
  }

  private func replace<R>(_ change: (inout [String: Table]) -> R) -> R {
    let (result, old) = unsafe ForkLock.hold {
      unsafe changes.withLock { _ in
        let old = unsafe current.pointee
        var byName = unsafe handles(old).byName
        let result = change(&byName)
        unsafe shm_rcu_assign(current, Unmanaged.passRetained(Handles(byName)).toOpaque())
        return unsafe (result, old)
      }
    }
    // False: a grace period cannot be had here (a fork inside a section). Then the old dictionary stays for ever.
    if shm_rcu_synchronize() { unsafe Unmanaged<Handles>.fromOpaque(old!).release() }
    return result
  }
}

extension Table {
  /// Whether it is this process's, and its name leads to it as far as this process knows: a participant sees a drop at once; that a program
  /// removed the name by other means, and any removal where the handle only observes, it sees within 100 ms.
  fileprivate var isCurrent: Bool {
    guard isOfThisProcess else { return false }
    do throws(EngineError) {
      try segment.checkLinked(now: HostClock.monotonicNanoseconds)
    } catch .unlinked {
      return false
    } catch {
      // What the system could not tell is no answer.
    }
    return true
  }
}
