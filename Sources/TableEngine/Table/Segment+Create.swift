import CShims
import Glibc
import SharedMemory

/// Creating and dropping. All of it under an exclusive flock on *ctl*, which ends with its holder: a creator that
/// dies leaves a half-made table that the next one recognises (ready = 0, lock free) and removes. So it does with what a
/// dropper that died left: a ready control object without a data object.
extension Segment {
  /// Makes a table and attaches to it.
  ///
  /// - Throws: `exists`; `full(.fileSystem)` when /dev/shm has no room, with nothing left behind; `notPermitted` for
  ///   impossible options.
  public static func create(_ name: String, _ options: SegmentOptions) throws(EngineError) -> Segment {
    try options.check()
    let control = try claimName(name, options)
    do throws(EngineError) {
      let data = try makeData(name)
      let segment = try build(name, options, control, data, isPrivate: false)
      try segment.publish(options, control)
      return segment
    } catch {
      // Ours alone while the lock is held and ready is 0.
      try? SharedObject.unlink(name: ObjectName.data(name))
      try? SharedObject.unlink(name: ObjectName.control(name))
      throw error
    }
  }

  /// Makes a table that never has names in /dev/shm: nobody else can open it, and a crash at any moment leaves nothing.
  ///
  /// - Parameter label: what errors and statistics call it.
  /// - Throws: `full(.fileSystem)`, `notPermitted` for impossible options, `system` where /dev/shm has no files without name.
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

  /// The control object, new, empty and locked.
  private static func claimName(_ name: String, _ options: SegmentOptions) throws(EngineError) -> SharedObject {
    for _ in 0..<8 {
      var isOurs = false
      do throws(SystemError) {
        let control = try SharedObject.create(name: ObjectName.control(name), mode: 0o600)
        isOurs = try control.tryLock(.exclusive)
        if isOurs, try isStillNamed(control, ObjectName.control(name)) { return control }
      } catch {
        if isOurs { try? SharedObject.unlink(name: ObjectName.control(name)) }
        guard error.errno == EEXIST else { throw EngineError(opening: error) }
        try reclaimHalfMade(name)
      }
    }
    throw .exists
  }

  /// Removes what a creator or a dropper that died left under the name.
  /// - Throws: `exists` if the table is whole or still being made.
  private static func reclaimHalfMade(_ name: String) throws(EngineError) {
    do throws(SystemError) {
      let control = try SharedObject.open(name: ObjectName.control(name), writable: true)
      guard try control.tryLock(.exclusive), try isStillNamed(control, ObjectName.control(name)) else {
        throw SystemError(call: "flock", errno: EEXIST)
      }
      guard try control.status().isRegular, try isHalf(control, name) else {
        throw SystemError(call: "shm_open", errno: EEXIST)
      }
      try? SharedObject.unlink(name: ObjectName.data(name))
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

  /// A control object of ours, locked, that is not ready or has lost its data object. Not what is somebody else's.
  private static func isHalf(_ control: SharedObject, _ name: String) throws(SystemError) -> Bool {
    let size = try control.status().size
    if size == 0 { return true }
    guard size >= HeaderPage.byteCount else { return false }
    let (magic, ready) = try HeaderPage.with(control) { header in
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
    let named: SharedObject
    do throws(SystemError) {
      named = try SharedObject.open(name: name, writable: false)
    } catch {
      // Who has no descriptor left, or no right, cannot look; the link count says nearly as much.
      if error.errno == ENOENT { return false }
      return try object.status().links > 0
    }
    return try named.status().isSameObject(as: object.status())
  }

  private static func makeData(_ name: String) throws(EngineError) -> SharedObject {
    try? SharedObject.unlink(name: ObjectName.data(name))
    do throws(SystemError) {
      return try SharedObject.create(name: ObjectName.data(name), mode: 0o600)
    } catch {
      throw EngineError(opening: error)
    }
  }

  // MARK: - Building

  private static func build(
    _ name: String, _ options: SegmentOptions, _ control: SharedObject, _ data: SharedObject, isPrivate: Bool
  ) throws(EngineError) -> Segment {
    let geometry = Geometry(capacityBytes: options.capacityBytes)
    let header = DataHeader(
      variant: options.variant, uuid: (.random(in: 1 ... .max), .random(in: 0 ... .max)),
      capacityBytes: geometry.capacityBytes, hashSeed: .random(in: 1 ... .max))
    let segment: Segment
    do throws(SystemError) {
      try control.allocate(offset: 0, count: geometry.fixedControlBytes)
      try data.allocate(offset: 0, count: geometry.unitsOffset)
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
    try segment.initialize(header, options)
    return segment
  }

  /// Lets others open the table: its rights, the mark that it is made, the lock.
  private func publish(_ options: SegmentOptions, _ control: SharedObject) throws(EngineError) {
    do throws(SystemError) {
      for (object, mode) in [(dataObject, options.mode), (control, options.controlMode)] {
        if options.owner != nil || options.group != nil { try object.setOwner(options.owner, group: options.group) }
        try object.setMode(mode)
      }
      guard try Self.isStillNamed(control, ObjectName.control(name)),
        try Self.isStillNamed(dataObject, ObjectName.data(name))
      else { throw SystemError(call: "shm_open", errno: EEXIST) }
      participant!.ctl.storeRelease(ControlLayout.ready, 1)
      try control.unlock()
    } catch {
      throw EngineError(opening: error)
    }
  }

  private func initialize(_ header: DataHeader, _ options: SegmentOptions) throws(EngineError) {
    let participant = participant!
    let ctl = participant.ctl
    let state = participant.state
    header.write(to: ctl)
    ctl.storeRelaxed(ControlLayout.fingerprint, LayoutHash.fingerprint)
    ctl.storeRelaxed(ControlLayout.limboBudget, UInt64(options.limboBudgetBytes))
    ctl.storeRelaxed(ControlLayout.stalledReaderPolicy, options.stalledReaderPolicy.rawValue)
    ctl.storeRelaxed(ControlLayout.poisonsFreedBlocks, options.poisonsFreedBlocks ? 1 : 0)
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
      while state.allocator.unitCount < geometry.unitCount { try state.allocator.growOneUnit() }
    }
    data.storeRelaxed(DataLayout.hashSeed, hashSeed)
    data.storeRelaxed(DataLayout.committed, 1)
    header.write(to: data)
  }

  // MARK: - Dropping

  /// Removes a table's names. Who has it open keeps what they have; their next barrier fails with `unlinked`.
  /// - Throws: `noSuchTable`, `notPermitted`.
  public static func drop(_ name: String) throws(EngineError) {
    do throws(SystemError) {
      let control = try lockToDrop(name)
      // Either may be missing, after a creator's or another dropper's death; only both missing is no table.
      let removedData = try unlinkIfPresent(ObjectName.data(name))
      let removedControl = try unlinkIfPresent(ObjectName.control(name))
      if !removedData && !removedControl { throw SystemError(call: "shm_unlink", errno: ENOENT) }
      // Only now: who may write a table but not remove it must not end it for everybody.
      if let control { try markDropped(control) }
    } catch {
      throw EngineError(opening: error)
    }
  }

  /// The control object that has the name, locked; nil if none can be opened.
  ///
  /// Another process may drop the table and make it anew while this one waits for the lock. What this one has locked then
  /// is the old table, and by the names it would remove the new one, which its caller did not mean.
  /// - Throws: `ENOENT` then.
  private static func lockToDrop(_ name: String) throws(SystemError) -> SharedObject? {
    guard let control = try? SharedObject.open(name: ObjectName.control(name), writable: true) else { return nil }
    // A stopped holder of the lock does not keep the table alive.
    _ = try control.lock(.exclusive, timeoutNanoseconds: 2_000_000_000)
    guard try isStillNamed(control, ObjectName.control(name)) else {
      throw SystemError(call: "shm_unlink", errno: ENOENT)
    }
    return control
  }

  private static func unlinkIfPresent(_ name: String) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try SharedObject.unlink(name: name)
      return true
    } catch {
      guard error.errno == ENOENT else { throw error }
      return false
    }
  }
}

extension Segment {
  /// Tells whoever has the table open; an outside `rm` is found by the link count instead.
  private static func markDropped(_ control: SharedObject) throws(SystemError) {
    let status = try control.status()
    guard status.isRegular, status.size >= HeaderPage.byteCount else { return }
    let page = try control.map(count: HeaderPage.byteCount, writable: true)
    withExtendedLifetime(page) {
      let header = unsafe Memory(base: page.base)
      if header.loadAcquire(ControlLayout.magic) == DataLayout.magicValue {
        header.storeRelease(ControlLayout.dropped, 1)
      }
    }
  }

  /// How often a barrier asks whether the names still are the table's.
  private static var linkCheckNanoseconds: UInt64 { 100_000_000 }

  /// - Throws: `unlinked` at once after a drop, and within the interval after an outside removal.
  func checkLinked(_ participant: Participant, now: UInt64) throws(EngineError) {
    if isPrivate { return }
    if participant.ctl.loadAcquire(ControlLayout.dropped) != 0 { throw .unlinked }
    // Relaxed: two threads that look at the same time look twice.
    if now &- lastLinkCheck.load(ordering: .relaxed) < Self.linkCheckNanoseconds { return }
    lastLinkCheck.store(now, ordering: .relaxed)
    do throws(SystemError) {
      let links = (try dataObject.status().links, try participant.object.status().links)
      if links.0 > 0, links.1 > 0 { return }
    } catch {
      throw .system(error)
    }
    lastLinkCheck.store(0, ordering: .relaxed)
    throw .unlinked
  }
}

extension TableState {
  /// The first unit and the one sub-table that the whole directory points to. By the creator, before anyone else
  /// can see the table: no journal.
  func buildRoot() throws(EngineError) {
    let block = try allocator.find(code: SizeClasses.code(byteCount: SubTable.byteCount), fromReserve: false)
    allocator.mark(block)
    data.zero(block.offset, count: SubTable.byteCount)
    let word = DirectoryWord(subTable: block.offset, depth: 0)
    for index in 0..<(1 << DataLayout.rootBits) { data.storeRelaxed(DataLayout.root + index * 8, word.raw) }
  }
}

extension EngineError {
  /// What a failed system call means while a table is being opened, made or dropped.
  init(opening error: SystemError) {
    switch error.errno {
    case ENOENT: self = .noSuchTable
    case EEXIST: self = .exists
    case EACCES, EPERM, EROFS: self = .notPermitted("the system refused: \(error)")
    case ENOMEM: self = .full(.addressSpace)
    case EISDIR, ELOOP, ENXIO, ENODEV: self = .notATable("its name belongs to something that is no memory object")
    // What glibc's shm_open makes of EISDIR. The name itself was checked before.
    case EINVAL where error.call.description == "shm_open":
      self = .notATable("its name belongs to something that is no memory object")
    default: self = Shortage(error).map { .full($0) } ?? .system(error)
    }
  }
}
