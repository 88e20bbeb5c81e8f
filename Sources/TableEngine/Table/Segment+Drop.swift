import Glibc
import SharedMemory

/// Dropping; `LinkCheck` notices that somebody did. Under the same lock as creating. The data object's name goes first,
/// so that what a dying dropper leaves can be told from a table.
extension Segment {
  /// Removes a table's names. Processes that have it open keep what they have; their next barrier fails with
  /// `unlinked`.
  /// - Parameter trusted: users whose objects are removed, besides root's, the daemon's and one's own.
  /// - Throws: `noSuchTable`, `foreign`, `refused`.
  public static func drop(_ name: String, trusted: TrustedOwners = []) throws(EngineError) {
    try EngineError.explaining(name, trusted, for: .dropping) { () throws(EngineError) in
      let found = try objectsToDrop(name, trusted)
      do throws(SystemError) {
        let (control, claim) = try lockToDrop(name, trusted)
        defer { withExtendedLifetime(claim) {} }
        // With the lock nobody makes the table anew: what has the names now is the table's. Without it only what had
        // them before may go.
        try unlink(claim != nil ? NamedObject.all(ofTable: name) : found, trusted)
        // Only now: a user who may write a table but not remove it must not end it for everybody.
        if let control { markDropped(control) }
      } catch {
        throw EngineError(opening: error)
      }
    }
  }

  /// Removes what a creator or dropper that died has left of a table: the control object, where the data object is not
  /// there. Never removes a whole table, nor one that is being made meanwhile. Nor a data object alone, which no death leaves: somebody
  /// removed the control object, and the values are still there.
  /// - Returns: false if the data object is there or neither is, or a process is making the table.
  public static func dropHalf(_ name: String, trusted: TrustedOwners = []) throws(EngineError) -> Bool {
    try EngineError.explaining(name, trusted, for: .dropping) { () throws(EngineError) in
      let found = NamedObject.all(ofTable: name)
      guard found.count == 1, let half = found.first, half.name == ObjectName.control(name) else { return false }
      guard trusted.include(half, for: .dropping) else { throw .foreign(half) }
      do throws(SystemError) {
        guard half.status.isRegular else { return try half.unlink() }
        // A process that makes a table begins with the control object, and holds its lock.
        let control = try SharedObject.open(name: half.name, writable: true)
        guard let claim = try UninheritedLock(of: control, name: half.name), try claim.tryLock(),
          try isStillNamed(control, half.name), NamedObject.all(ofTable: name).count == 1
        else { return false }
        defer { withExtendedLifetime(claim) {} }
        return try half.unlink()
      } catch {
        throw EngineError(opening: error)
      }
    }
  }

  /// What has the table's names. Either may be missing, after a creator's or another dropper's death; only both missing is
  /// no table.
  private static func objectsToDrop(_ name: String, _ trusted: TrustedOwners) throws(EngineError) -> [NamedObject] {
    let found = NamedObject.all(ofTable: name)
    if found.isEmpty { throw .noSuchTable }
    for object in found where !trusted.include(object, for: .dropping) { throw .foreign(object) }
    return found
  }

  /// Removes the names of these objects, and no stranger's that took one just now.
  private static func unlink(_ objects: [NamedObject], _ trusted: TrustedOwners) throws(SystemError) {
    var isRemoved = false
    for object in objects where trusted.include(object, for: .dropping) {
      if try object.unlink() { isRemoved = true }
    }
    if !isRemoved { throw SystemError(call: "shm_unlink", errno: ENOENT) }
  }

  /// The control object that has the name, and its lock: nil if a stopped holder keeps us from that.
  /// No object if there is none, or it cannot be opened, or it is a stranger's: that one's lock may never be free, and it may
  /// be cut short while it is mapped.
  ///
  /// Another process may drop the table and make it anew while this one waits for the lock. What this one has locked
  /// then is the old table, and by the names it would remove the new one, which its caller did not mean.
  /// - Throws: `ENOENT` then.
  private static func lockToDrop(
    _ name: String, _ trusted: TrustedOwners
  ) throws(SystemError) -> (control: SharedObject?, claim: UninheritedLock?) {
    let control: SharedObject
    do throws(SystemError) {
      control = try SharedObject.open(name: ObjectName.control(name), writable: true)
    } catch {
      if [EMFILE, ENFILE, ENOMEM].contains(error.errno) { throw error }
      return (nil, nil)
    }
    let status = try control.status()
    let found = NamedObject(name: ObjectName.control(name), status: status)
    guard status.isRegular, trusted.include(found, for: .takingPart) else { return (nil, nil) }
    let claim = try UninheritedLock(of: control, name: ObjectName.control(name))
    // A stopped holder of the lock does not keep the table alive.
    let isLocked = try claim?.lock(timeoutNanoseconds: 2_000_000_000) ?? false
    guard try isStillNamed(control, ObjectName.control(name)) else {
      throw SystemError(call: "shm_unlink", errno: ENOENT)
    }
    return (control, isLocked ? claim : nil)
  }
}

extension Segment {
  /// Tells the processes that have the table open. One that is not told finds by the link count that the names are gone, as after an outside
  /// `rm`: so where the page cannot be mapped, the drop has succeeded all the same.
  private static func markDropped(_ control: SharedObject) {
    guard let size = try? control.status().size, size >= FirstPage.byteCount,
      let page = try? control.map(count: FirstPage.byteCount, writable: true)
    else { return }
    withExtendedLifetime(page) {
      let header = unsafe MappedMemory(base: page.base)
      if header.loadAcquire(ControlLayout.magic) == DataLayout.magicValue {
        header.storeRelease(ControlLayout.dropped, 1)
      }
    }
  }
}
