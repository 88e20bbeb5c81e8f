import CShims
import Glibc
import SharedMemory

/// Creating, like dropping, under an exclusive flock on *ctl*, which ends with its holder: a creator that
/// dies leaves a half-made table that the next one recognises (ready = 0, lock free) and removes. So it does with what a
/// dropper that died left: a ready control object without a data object.
extension Segment {
  /// Makes a table and attaches to it.
  ///
  /// - Parameter trusted: users whose half-made tables are waited for and replaced, besides root's, the daemon's and one's
  ///   own.
  /// - Parameter load: what it is to hold when others see it first; nil: nothing.
  /// - Parameter goesOn: asked after each MiB that is claimed at once, and each 32 MiB that are backed by huge pages. If it says no before the
  ///   table is whole, the making ends, with nothing left behind.
  /// - Throws: `exists`; `foreign` if the name is a stranger's; `full(.fileSystem)` when /dev/shm has no room, with nothing
  ///   left behind; `invalid` for impossible options; ``EngineError/makingEnded``.
  public static func create(
    _ name: String, _ options: SegmentOptions, trusted: TrustedOwners = [], load: TableLoad? = nil,
    goesOn: () -> Bool = { true }
  ) throws(EngineError) -> Segment {
    try options.check()
    let trusted = trusted.adding(options.owner)
    return try EngineError.explaining(name, trusted, for: .takingPart) { () throws(EngineError) in
      try make(name, options, trusted, load, goesOn)
    }
  }

  private static func make(
    _ name: String, _ options: SegmentOptions, _ trusted: TrustedOwners, _ load: TableLoad?, _ goesOn: () -> Bool
  ) throws(EngineError) -> Segment {
    let (control, claim) = try claimName(name, trusted)
    defer { withExtendedLifetime(claim) {} }
    var data: SharedObject?
    do throws(EngineError) {
      let object = try makeData(name, trusted)
      data = object
      let segment = try build(name, options, control, object, isPrivate: false, load, goesOn)
      try segment.publish(options, control)
      return segment
    } catch {
      // Removes only what this creator made. It may have been stopped, and a dropping process does not wait for it for
      // ever: by now the names may be those of another table, or of a stranger's objects.
      if let data { unlink(data, ObjectName.data(name)) }
      unlink(control, ObjectName.control(name))
      throw error
    }
  }

  /// Removes a name if it is this object's.
  private static func unlink(_ object: SharedObject, _ name: String) {
    guard let status = try? object.status() else { return }
    _ = try? NamedObject(name: name, status: status).unlink()
  }

  /// Makes a table that never has names in /dev/shm: nobody else can open it, and a crash at any moment leaves nothing.
  ///
  /// - Parameter label: what errors and statistics call it.
  /// - Throws: `full(.fileSystem)`, `invalid` for impossible options, `system` where /dev/shm has no files without name.
  public static func createNameless(_ label: String, _ options: SegmentOptions) throws(EngineError) -> Segment {
    try options.check()
    let control: SharedObject
    let data: SharedObject
    do throws(SystemError) {
      control = try SharedObject.createNameless()
      data = try SharedObject.createNameless()
    } catch {
      throw EngineError(opening: error)
    }
    return try build(label, options, control, data, isPrivate: true)
  }

  /// The control object, new and empty, and its lock.
  private static func claimName(
    _ name: String, _ trusted: TrustedOwners
  ) throws(EngineError) -> (SharedObject, UninheritedLock) {
    for _ in 0..<8 {
      var made: SharedObject?
      do throws(SystemError) {
        let control = try SharedObject.create(name: ObjectName.control(name), mode: 0o600)
        made = control
        // The process's umask may have taken the owner's rights, and the lock opens the object once more.
        try control.setMode(0o600)
        guard let claim = try UninheritedLock(of: control, name: ObjectName.control(name)) else { continue }
        if try claim.tryLock(), try isStillNamed(control, ObjectName.control(name)) { return (control, claim) }
      } catch {
        if let made { unlink(made, ObjectName.control(name)) }
        guard error.errno == EEXIST else { throw EngineError(opening: error) }
        try reclaimHalfMade(name, trusted)
      }
    }
    throw .exists
  }

  /// Removes what a creator or a dropper that died left under the name.
  /// - Throws: `exists` if the table is whole or still being made; `foreign` if it is a stranger's.
  private static func reclaimHalfMade(_ name: String, _ trusted: TrustedOwners) throws(EngineError) {
    do throws(SystemError) {
      let control = try SharedObject.open(name: ObjectName.control(name), writable: true)
      let status = try control.status()
      let found = NamedObject(name: ObjectName.control(name), status: status)
      guard status.isRegular, trusted.include(found, for: .takingPart),
        let claim = try UninheritedLock(of: control, name: ObjectName.control(name)), try claim.tryLock(),
        try isStillNamed(control, ObjectName.control(name)), try isHalf(control, name)
      else {
        throw SystemError(call: "shm_open", errno: EEXIST)
      }
      defer { withExtendedLifetime(claim) {} }
      try removeLeftover(ObjectName.data(name), trusted)
      try SharedObject.unlink(name: ObjectName.control(name))
    } catch {
      switch error.errno {
      case ENOENT: return
      // We could not look.
      case EMFILE, ENFILE, ENOMEM: throw EngineError(opening: error)
      default: throw .exists
      }
    }
  }

  /// Removes a data object without a table. One that may not be removed, or is a stranger's, stays: then its name is taken.
  private static func removeLeftover(_ object: String, _ trusted: TrustedOwners) throws(SystemError) {
    guard let found = NamedObject.find(object), trusted.include(found, for: .takingPart) else { return }
    _ = try? found.unlink()
  }

  /// A control object of ours, locked, that is not ready or has lost its data object. Not what is somebody else's.
  private static func isHalf(_ control: SharedObject, _ name: String) throws(SystemError) -> Bool {
    let size = try control.status().size
    if size == 0 { return true }
    guard size >= FirstPage.byteCount else { return false }
    let (magic, ready) = try FirstPage.with(control) { header in
      (header.loadAcquire(ControlLayout.magic), header.loadAcquire(ControlLayout.ready))
    }
    if magic == 0 { return true }
    guard magic == DataLayout.magicValue else { return false }
    if ready != 0 {
      do {
        _ = try SharedObject.open(name: ObjectName.data(name), writable: false)
      } catch {
        guard error.errno == ENOENT else { throw error }
        return true
      }
    }
    return ready == 0
  }

  static func isStillNamed(_ object: SharedObject, _ name: String) throws(SystemError) -> Bool {
    guard let named = try SharedObject.look(at: name) else { return false }
    return try named.isSameObject(as: object.status())
  }

  // MARK: - Building

  /// The data object, new and empty.
  private static func makeData(_ name: String, _ trusted: TrustedOwners) throws(EngineError) -> SharedObject {
    do throws(SystemError) {
      try removeLeftover(ObjectName.data(name), trusted)
      return try SharedObject.create(name: ObjectName.data(name), mode: 0o600)
    } catch {
      throw EngineError(opening: error)
    }
  }

  private static func build(
    _ name: String, _ options: SegmentOptions, _ control: SharedObject, _ data: SharedObject, isPrivate: Bool,
    _ load: TableLoad? = nil, _ goesOn: () -> Bool = { true }
  ) throws(EngineError) -> Segment {
    let geometry = Geometry(capacityBytes: options.capacityBytes)
    let header = DataHeader(
      variant: options.variant, uuid: (.random(in: 1 ... .max), .random(in: 0 ... .max)),
      capacityBytes: geometry.capacityBytes, hashSeed: options.hashSeed ?? .random(in: 1 ... .max),
      features: options.features)
    let backing = BackingPages(data: data, control: control)
    try backing.allocateControl(offset: 0, count: geometry.fixedControlBytes)
    try backing.allocateData(offset: 0, count: geometry.unitsOffset)
    let segment: Segment
    do throws(SystemError) {
      let mapping = try data.map(count: geometry.dataBytes, writable: true)
      let attachment = try SegmentRegistry.shared.attach(control, byteCount: geometry.controlBytes)
      segment = try SegmentRegistry.shared.segment(over: attachment) {
        Segment(
          name: name, header: header, geometry: geometry, dataObject: data, dataMapping: mapping,
          control: (control, attachment), isPrivate: isPrivate)
      }
    } catch {
      throw EngineError(opening: error)
    }
    try segment.initialize(header, options, load, goesOn)
    // Where its maker does not go on the table is whole all the same: a daemon backs the rest in its idle moments.
    var backed = 0
    repeat {
      backed = HugePages(segment).catchUp(atMost: HugePages.bytesInAnIdleMoment)
    } while backed == HugePages.bytesInAnIdleMoment && goesOn()
    return segment
  }

  /// Lets others open the table: its rights, the mark that it is made. Then the lock may end.
  private func publish(_ options: SegmentOptions, _ control: SharedObject) throws(EngineError) {
    do throws(SystemError) {
      try setFirstRights(options, control)
      guard try Self.isStillNamed(control, ObjectName.control(name)),
        try Self.isStillNamed(dataObject, ObjectName.data(name))
      else { throw SystemError(call: "shm_open", errno: EEXIST) }
      participant!.ctl.storeRelease(ControlLayout.ready, 1)
    } catch {
      throw EngineError(opening: error)
    }
  }

  private func initialize(
    _ header: DataHeader, _ options: SegmentOptions, _ load: TableLoad?, _ goesOn: () -> Bool
  ) throws(EngineError) {
    let participant = participant!
    let ctl = participant.ctl
    let state = participant.state
    header.write(to: ctl)
    ctl.storeRelaxed(ControlLayout.fingerprint, LayoutHash.fingerprint)
    ctl.storeRelaxed(ControlLayout.limboBudget, UInt64(options.limboBudgetBytes))
    ctl.storeRelaxed(ControlLayout.stalledReaderPolicy, options.stalledReaderPolicy.rawValue)
    ctl.storeRelaxed(ControlLayout.keepsMemory, options.preallocate ? 1 : 0)
    ctl.storeRelaxed(ControlLayout.poisonsFreedBlocks, options.poisonsFreedBlocks ? 1 : 0)
    ctl.storeRelaxed(ControlLayout.wantsHugePages, options.hugePages ? 1 : 0)
    ctl.storeRelaxed(ControlLayout.creatorPid, UInt64(UInt32(bitPattern: ProcessIdentity.pid)))
    ctl.storeRelaxed(ControlLayout.createdNanoseconds, HostClock.realtimeNanoseconds)
    do throws(SystemError) {
      ctl.storeRelaxed(ControlLayout.pidNamespace, try ProcessIdentity.pidNamespace())
      try participant.lock.initialize()
      try participant.exclusion.initialize()
      for index in 0..<geometry.slotCount {
        try participant.slots.mutex(index).initialize()
        participant.slots.reset(index)
      }
    } catch {
      throw .system(error)
    }
    try state.limbo.initialize(state.backing)
    try state.superseded.initialize(state.backing)
    try state.retained.initialize(state.backing)
    try state.journal.reserve(1, state.backing)
    announceFencing()
    try state.buildRoot()
    if options.preallocate {
      while state.allocator.unitCount < geometry.unitCount {
        try state.allocator.growOneUnit()
        if !goesOn() { throw .makingEnded }
      }
    }
    data.storeRelaxed(DataLayout.hashSeed, hashSeed)
    data.storeRelaxed(DataLayout.features, features.rawValue)
    data.storeRelaxed(DataLayout.committed, 1)
    // Before the magic number: whoever could map *data* already would see a part of it.
    if let load { try load.fill(Loader(state, base: load.base, uuid: uuid)) }
    header.write(to: data)
  }
}

extension WriterState {
  /// The first unit and the one sub-table that the whole directory points to. By the creator, before anyone else
  /// can see the table: no journal.
  func buildRoot() throws(EngineError) {
    let block = try allocator.find(code: SizeClasses.code(byteCount: SubTable.byteCount), for: .anything)
    allocator.mark(block)
    data.zero(block.offset, count: SubTable.byteCount)
    let word = DirectoryWord(subTable: block.offset, depth: 0)
    for index in 0..<(1 << DataLayout.rootBits) { data.storeRelaxed(DataLayout.rootWord(index), word.raw) }
  }
}
