import CShims
import Glibc
import SharedMemory

extension Segment {
  /// Attaches to an existing table. Never creates anything. Of a table that is dropped and made anew meanwhile it finds the
  /// one or the other: what the lookups between found is not believed once the control object has lost its name.
  ///
  /// - Parameter trusted: users whose tables this process uses, besides root's, the daemon's and its own.
  /// - Throws: `noSuchTable`, `foreign`, `notATable`, `incompatible`, `irreparable`, `unopenable`, `damaged`,
  ///   `notPermitted`, `refused`, `full(.addressSpace)`.
  public static func open(
    _ name: String, _ request: AccessRequest = .automatic, trusted: TrustedOwners = [],
    timeoutNanoseconds: UInt64 = 5_000_000_000
  ) throws(EngineError) -> Segment {
    switch request {
    case .participant: try takePart(name, trusted, timeoutNanoseconds)
    case .observer: try observe(name, trusted, timeoutNanoseconds)
    case .automatic: try takePartOrObserve(name, trusted, timeoutNanoseconds)
    }
  }

  private static func takePartOrObserve(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    do throws(EngineError) {
      return try takePart(name, trusted, timeoutNanoseconds)
    } catch {
      guard error.forbidsTakingPart else { throw error }
      let reason = error
      do throws(EngineError) {
        let segment = try observe(name, trusted, timeoutNanoseconds)
        segment.refusal.withLock { $0 = reason }
        return segment
      } catch {
        throw error.forbidsTakingPart ? reason : error
      }
    }
  }

  private static func takePart(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    try EngineError.explaining(name, trusted, for: .takingPart) { () throws(EngineError) in
      try openParticipant(name, trusted, timeoutNanoseconds)
    }
  }

  private static func observe(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    try EngineError.explaining(name, trusted, for: .observing) { () throws(EngineError) in
      try openObserver(name, trusted, timeoutNanoseconds)
    }
  }

  // MARK: - Participant

  private static func openParticipant(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    while true {
      let control = try openControl(name, trusted, timeoutNanoseconds)
      do throws(EngineError) {
        return try takePart(name, control, trusted, timeoutNanoseconds)
      } catch {
        // Dropped meanwhile, and perhaps made anew: then what was found is no table any more, or belongs to two.
        let isNamed = (try? isStillNamed(control, ObjectName.control(name))) ?? true
        if isNamed || HostClock.monotonicNanoseconds >= deadline { throw error }
      }
    }
  }

  private static func takePart(
    _ name: String, _ control: SharedObject, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    try waitUntilReady(control, timeoutNanoseconds)
    let (data, status) = try openTrusted(ObjectName.data(name), writable: true, trusted)
    let owner: UInt32
    do throws(SystemError) { owner = try control.status().owner } catch { throw EngineError(opening: error) }
    guard owner == status.owner else {
      throw .notPermitted("its two objects belong to two users", instead: "drop it and make it anew")
    }
    return try attach(name, control, data)
  }

  private static func openControl(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> SharedObject {
    let (control, status) = try look(for: ObjectName.control(name), writable: true, trusted, timeoutNanoseconds) {
      _, status in status.size > 0
    }
    if status.mode & 0o002 != 0 {
      throw .notPermitted(
        "its control object is writable by everybody",
        instead: "have its owner or root take that right away: 'chmod o-w /dev/shm/\(ObjectName.control(name))'")
    }
    return control
  }

  /// Opens an object whose creator may not have come far enough yet to be waited for by a lock, or died there: while the
  /// object is not `made` it is looked for again, for a second at most. Then it is returned as it is.
  private static func look(
    for name: String, writable: Bool, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64,
    until isMade: (SharedObject, SharedObject.Status) throws(SystemError) -> Bool
  ) throws(EngineError) -> (SharedObject, SharedObject.Status) {
    let deadline = HostClock.monotonicNanoseconds &+ min(timeoutNanoseconds, 1_000_000_000)
    while true {
      let (object, status) = try openTrusted(name, writable: writable, trusted)
      do throws(SystemError) {
        if try isMade(object, status) || HostClock.monotonicNanoseconds >= deadline { return (object, status) }
      } catch {
        throw EngineError(opening: error)
      }
      shmos_sleep(1_000_000)
    }
  }

  /// Opens an object and looks whose it is, before a byte of it is mapped: a stranger could cut it short, and readers would
  /// get SIGBUS.
  private static func openTrusted(
    _ name: String, writable: Bool, _ trusted: TrustedOwners
  ) throws(EngineError) -> (SharedObject, SharedObject.Status) {
    let object: SharedObject
    let status: SharedObject.Status
    do throws(SystemError) {
      object = try SharedObject.open(name: name, writable: writable)
      status = try object.status()
    } catch {
      throw EngineError(opening: error)
    }
    try trusted.check(status, name, for: writable ? .takingPart : .observing)
    return (object, status)
  }

  /// Waits for a creator at work. A creator that died is recognised by its free lock.
  private static func waitUntilReady(_ control: SharedObject, _ timeoutNanoseconds: UInt64) throws(EngineError) {
    do throws(SystemError) {
      if try isMarkedReady(control) { return }
      guard try control.lock(.shared, timeoutNanoseconds: timeoutNanoseconds) else {
        throw SystemError(call: "flock", errno: ETIMEDOUT)
      }
      try control.unlock()
      guard try isMarkedReady(control) else { throw SystemError(call: "flock", errno: ESTALE) }
    } catch {
      switch error.errno {
      case ETIMEDOUT: throw .timedOut(nil)
      case ESTALE: throw .notATable("its control object is half-made or none")
      default: throw EngineError(opening: error)
      }
    }
  }

  private static func isMarkedReady(_ control: SharedObject) throws(SystemError) -> Bool {
    guard try control.status().size >= FirstPage.byteCount else { return false }
    return try FirstPage.with(control) { header in
      let magic = header.loadAcquire(ControlLayout.magic)
      // Anything but a half-made table of ours goes on to the checks that say what it is.
      return magic == DataLayout.magicValue ? header.loadAcquire(ControlLayout.ready) == 1 : magic != 0
    }
  }

  private static func attach(
    _ name: String, _ control: SharedObject, _ data: SharedObject
  ) throws(EngineError) -> Segment {
    let controlHeader = try header(of: control, "its control object")
    let dataHeader = try header(of: data)
    guard controlHeader.uuid == dataHeader.uuid, controlHeader.variant == dataHeader.variant,
      controlHeader.capacityBytes == dataHeader.capacityBytes
    else {
      throw .irreparable("its two objects do not belong together")
    }
    let geometry = Geometry(capacityBytes: dataHeader.capacityBytes)
    let segment: Segment
    do throws(SystemError) {
      guard try control.status().size >= geometry.fixedControlBytes else {
        throw SystemError(call: "fstat", errno: ENODEV)
      }
      try checkPublished(data, geometry)
      let mapping = try data.map(count: geometry.dataBytes, writable: true)
      let attachment = try SegmentRegistry.shared.attach(control, byteCount: geometry.controlBytes)
      // Mapped by an earlier opening, when its header said something else.
      guard attachment.byteCount == geometry.controlBytes else { throw SystemError(call: "mmap", errno: ESTALE) }
      segment = try SegmentRegistry.shared.segment(over: attachment) {
        Segment(
          name: name, header: dataHeader, geometry: geometry, dataObject: data, dataMapping: mapping,
          control: (control, attachment))
      }
    } catch {
      if error.errno == ENODEV { throw .unopenable("one of its objects is shorter than its header says") }
      if error.errno == ESTALE { throw .damaged("its capacity changed since this process first opened it") }
      throw EngineError(opening: error)
    }
    try segment.checkPeers()
    return segment
  }

  /// The data object must hold what its header publishes, or the first read would be a SIGBUS.
  private static func checkPublished(_ data: SharedObject, _ geometry: Geometry) throws(SystemError) {
    let published = try FirstPage.with(data) { $0.loadAcquire(DataLayout.publishedBytes) }
    guard published <= UInt64(geometry.dataBytes), published > UInt64(geometry.unitsOffset),
      try data.status().size >= Int(published)
    else { throw SystemError(call: "fstat", errno: ENODEV) }
  }

  /// What participants must share besides the layout.
  private func checkPeers() throws(EngineError) {
    let ctl = participant!.ctl
    guard ctl.loadRelaxed(ControlLayout.fingerprint) == LayoutHash.fingerprint else {
      throw .notPermitted("it was made with another C library or on another machine", instead: "use the same one")
    }
    let namespace: UInt64
    do throws(SystemError) { namespace = try ProcessIdentity.pidNamespace() } catch { throw .system(error) }
    guard ctl.loadRelaxed(ControlLayout.pidNamespace) == namespace else {
      throw .notPermitted(
        "it was made in another PID namespace (another container)",
        instead: "run this process in the same one, such as by --pid")
    }
    try ControlAttachmentCheck(self, participant!).check()
    announceFencing()
  }

  /// Tells reclaiming processes that this process's readers rely on membarrier.
  ///
  /// PAIR light-flag. Other end: ReaderScan.take. Sequentially consistent: the flag must be visible before this
  /// process's first light read. Else a reclaiming process could leave out HEAVY and miss that reader.
  func announceFencing() {
    if !fenced, let participant { _ = participant.ctl.exchange(ControlLayout.lightReaders, 1) }
  }

  // MARK: - Observer

  private static func openObserver(
    _ name: String, _ trusted: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Segment {
    // An observer cannot wait for a creator by the lock of *ctl*, which it does not open.
    let (data, _) = try look(
      for: ObjectName.data(name), writable: false, trusted, timeoutNanoseconds, until: hasMagic)
    try ObserverLock.hold(data, timeoutNanoseconds: timeoutNanoseconds)
    return try observe(name, data) { count throws(SystemError) in try data.map(count: count, writable: false) }
  }

  /// Whether a creator has come to its last store. An object that is too short for that but not empty is no creator's
  /// work, and not waited for.
  private static func hasMagic(_ data: SharedObject, _ status: SharedObject.Status) throws(SystemError) -> Bool {
    if status.size < FirstPage.byteCount { return status.size > 0 }
    return try FirstPage.with(data) { $0.loadAcquire(DataLayout.magic) != 0 }
  }

  /// Observes a data object that its caller maps: tests surround the mapping with guard pages, or share a participant's.
  package static func observe(
    _ name: String, _ data: SharedObject, _ map: (_ count: Int) throws(SystemError) -> Mapping
  ) throws(EngineError) -> Segment {
    let header = try header(of: data)
    let geometry = Geometry(capacityBytes: header.capacityBytes)
    do throws(SystemError) {
      try checkPublished(data, geometry)
      return Segment(
        name: name, header: header, geometry: geometry, dataObject: data, dataMapping: try map(geometry.dataBytes),
        control: nil)
    } catch {
      if error.errno == ENODEV { throw .unopenable("its data object is shorter than its header says") }
      throw EngineError(opening: error)
    }
  }

  private static func header(of object: SharedObject, _ what: String) throws(EngineError) -> DataHeader {
    try checked(object, what) { page throws(EngineError) in try DataHeader(page, object: what) }
  }

  private static func header(of data: SharedObject) throws(EngineError) -> DataHeader {
    try checked(data, "its data object") { page throws(EngineError) in try DataHeader(data: page) }
  }

  private static func checked(
    _ object: SharedObject, _ what: String, _ read: (MappedMemory) throws(EngineError) -> DataHeader
  ) throws(EngineError) -> DataHeader {
    let result: Result<DataHeader, EngineError>
    do throws(SystemError) {
      guard try object.status().size >= FirstPage.byteCount else { throw SystemError(call: "fstat", errno: ENODEV) }
      result = try FirstPage.with(object) { page in Result { () throws(EngineError) in try read(page) } }
    } catch {
      if error.errno == ENODEV { throw .notATable("\(what) is too short") }
      throw EngineError(opening: error)
    }
    return try result.get()
  }
}
