import SharedMemory

/// Tells whether anybody observes a table, although observers store nothing.
///
/// An observer holds a shared lock on the data object, by an open file description of its own, as long as it maps the object;
/// the kernel takes the lock back however the process ends. Memory is given back only under the exclusive lock: an observer
/// that was overtaken may touch what it must not, and a page that is not there is SIGBUS where memory is short.
struct ObserverLock {
  let data: SharedObject
  /// The data object's; nil if it has none, and so nobody who observes.
  let name: String?

  /// An observer's, before it maps the object: until the last reference to it goes.
  /// - Throws: `timedOut` if memory is being given back all the time, by a stopped process.
  static func hold(_ data: SharedObject, timeoutNanoseconds: UInt64) throws(EngineError) {
    do throws(SystemError) {
      if try data.lockMemory(.shared, timeoutNanoseconds: timeoutNanoseconds) { return }
    } catch {
      throw EngineError(opening: error)
    }
    throw .timedOut(nil)
  }

  /// Runs `body` while nobody observes, and nobody begins to. It must not wait for long: a process that wants to
  /// observe waits for it.
  ///
  /// The lock is that of a new open file description, which no child that goes on shares: one that outlived its killed parent
  /// would keep observers out.
  /// - Returns: nil, without a call of `body`, if somebody observes or the object has lost its name.
  func exclude<R>(_ body: () -> R) -> R? {
    guard let name else { return body() }
    return ForkLock.hold {
      guard let own = try? SharedObject.open(name: name, writable: true),
        let found = try? own.status(), let expected = try? data.status(), found.isSameObject(as: expected),
        (try? own.tryLockMemory(.exclusive)) == true
      else { return nil }
      // Not by closing it: a child that posix_spawn(3) is about to make another program of shares the description until then, and
      // would be taken for one who observes. No ForkLock keeps that from being made.
      defer { try? own.unlockMemory() }
      return body()
    }
  }

  /// Whether somebody observes just now.
  var isObserved: Bool { exclude {} == nil }
}
