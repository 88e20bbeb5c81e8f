import CShims
import SharedMemory
public import Synchronization

/// One table as this process has it mapped. Every handle of the same table in a process shares one segment, so that
/// a thread's sections are known whichever handle they were entered through (G11).
@safe
public final class Segment: Sendable {
  /// How this process takes part ("Three ways in" in docs/administration.md).
  public enum Access: Sendable {
    /// Maps both objects read-write: slots, zero-copy reads, direct writes.
    case participant
    /// Maps *data* read-only and stores nothing anywhere.
    case observer
  }

  public let name: String
  public let variant: Variant
  public let access: Access
  public let uuid: (UInt64, UInt64)
  public let geometry: Geometry
  /// Process-unique, never reused: the key of threads' records.
  public let id: UInt64
  public let data: MappedMemory
  public let hashSeed: UInt64
  /// The geometry's: every write asks for it.
  let maximumValueLength: Int
  public let features: TableFeatures
  /// This process takes part, and the table is no mirror.
  private let takesWrites: Bool
  /// Participant of the RCU variant: a thread announces itself in its own slot, and waits for no other.
  @usableFromInline let readsDirectly: Bool
  /// ``readsDirectly``, and this process's readers announce themselves by plain stores: the most frequent case.
  @usableFromInline let readsLightly: Bool
  /// Observer of the RCU variant.
  @usableFromInline let observesVersions: Bool
  /// Readers of this process must fence themselves: membarrier does not reach it.
  @usableFromInline let fenced: Bool

  package let dataObject: SharedObject
  package let dataMapping: Mapping
  /// Present for participants.
  let participant: Participant?
  /// ``participant``, for paths on which counting its references would be a good part of the work.
  private let uncounted: UncountedReference<Participant>?
  /// Present for participants of the rwlock variant: how they read.
  let gate: RWReaderGate?
  @usableFromInline let forkGeneration: ForkGeneration
  /// Made without names: nobody else can open the table.
  let isPrivate: Bool
  /// How far an observer may look: what of the published size was seen to be in the object. It does not become less
  /// while somebody observes.
  @usableFromInline let observedLimit = Atomic(0)
  /// CLOCK_MONOTONIC of the last look at the link counts.
  let lastLinkCheck = Atomic<UInt64>(0)

  /// What only a participant has. A class, so that handing it on is one reference.
  final class Participant: Sendable {
    let ctl: MappedMemory
    let object: SharedObject
    /// Keeps `ctl` mapped.
    let attachment: ControlAttachment
    let slots: Slots
    let exclusion: RWExclusion
    let state: WriterState
    let presence: PresenceSlot
    let collapseRefusal = CollapseRefusal()

    init(object: SharedObject, attachment: ControlAttachment, exclusion: RWExclusion, state: WriterState) {
      ctl = attachment.memory
      self.object = object
      self.attachment = attachment
      slots = attachment.slots
      self.exclusion = exclusion
      self.state = state
      presence = PresenceSlot(attachment)
    }

    // Made where they are used, as the parts of ``WriterState``.

    var lock: WriterLock {
      @inline(__always) get { WriterLock(ctl: ctl, data: state.data, slots: slots) }
    }
    var keyLocks: KeyLocks {
      @inline(__always) get { KeyLocks(ctl: ctl, slots: slots) }
    }
  }

  init(
    name: String, header: DataHeader, geometry: Geometry, dataObject: SharedObject, dataMapping: Mapping,
    control: (object: SharedObject, attachment: ControlAttachment)?, isPrivate: Bool = false
  ) {
    self.name = name
    self.isPrivate = isPrivate
    variant = header.variant
    uuid = header.uuid
    self.geometry = geometry
    maximumValueLength = geometry.maximumValueLength
    hashSeed = header.hashSeed
    features = header.features
    takesWrites = control != nil && !header.features.contains(.mirror)
    self.dataObject = dataObject
    self.dataMapping = dataMapping
    data = unsafe MappedMemory(base: dataMapping.base)
    id = control?.attachment.id ?? SegmentRegistry.shared.newID()
    fenced = Membarrier.mode == .fenced
    forkGeneration = ForkGeneration()
    access = control == nil ? .observer : .participant
    readsDirectly = control != nil && header.variant == .rcu
    readsLightly = readsDirectly && !fenced
    observesVersions = control == nil && header.variant == .rcu
    gate =
      header.variant == .rcu
      ? nil : control.map { unsafe RWReaderGate(ctl: $0.attachment.memory, data: MappedMemory(base: dataMapping.base)) }
    let participant = control.map { control in
      let ctl = control.attachment.memory
      let state = WriterState(
        data: unsafe MappedMemory(base: dataMapping.base), ctl: ctl, geometry: geometry,
        backing: BackingPages(data: dataObject, control: control.object), variant: header.variant,
        hashSeed: header.hashSeed)
      return Participant(
        object: control.object, attachment: control.attachment,
        exclusion: RWExclusion(
          gate: RWReaderGate(ctl: ctl, data: state.data), slots: control.attachment.slots, work: state.work,
          recover: { [unowned state] remains in
            switch remains {
            case .transaction: Recoverer(state: state).recover()
            case .units: Recoverer(state: state).publishUnits()
            }
          }),
        state: state)
    }
    self.participant = participant
    uncounted = participant.map { unsafe UncountedReference($0) }
  }

  /// Takes the registry's lock, and that of the thread which holds slots: no reference to a segment may be dropped under
  /// either, nor under ForkLock. The rest of the end is at `SlotRelease`.
  deinit {
    guard participant != nil else { return }
    SegmentRegistry.shared.forget(ObjectIdentifier(self), over: id)
    if isOfThisProcess { SlotRelease.giveBack(id) }
  }

  /// Why this process observes although it would have taken part; nil where it was asked to.
  package let refusal = Mutex<EngineError?>(nil)

  /// What an observer's write throws.
  private var observes: EngineError {
    refusal.withLock { $0?.forbiddingWrites }
      ?? .notPermitted("this handle was opened to observe the table", instead: "open it to take part")
  }

  /// The newest committed version.
  @inlinable @inline(__always)
  public var committed: UInt64 { data.loadAcquire(DataLayout.committed) }

  @inlinable @inline(__always)
  public func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    unsafe shm_hash(key.baseAddress!, key.count, hashSeed)
  }

  /// How many bytes a key has at most; at least it has one.
  public static var maximumKeyLength: Int { Entry.maximumKeyLength }

  @inline(__always)
  func check(key: UnsafeRawBufferPointer) throws(EngineError) { try check(keyLength: key.count) }

  @inline(__always)
  func check(keyLength: Int) throws(EngineError) { try Entry.check(keyLength: keyLength) }

  /// Values are at most as long as the table's capacity allows.
  @inline(__always)
  func check(valueLength: Int) throws(EngineError) {
    try Entry.check(valueLength: valueLength, maximum: maximumValueLength)
  }

  /// What this process's writes took, for participants.
  package var work: WorkCounters? { participant?.state.work }

  /// The control object's memory, for tests that damage it.
  package var controlMemory: MappedMemory? { participant?.ctl }

  /// What only a participant may do.
  func requireParticipant() throws(EngineError) -> Participant {
    try checkParticipation()
    return participant!
  }

  @inline(__always)
  func checkParticipation() throws(EngineError) {
    try checkOfThisProcess()
    guard participant != nil else { throw observes }
  }

  /// What every write begins with, but those of a process that mirrors another store into the table.
  @inline(__always)
  func checkWriting() throws(EngineError) {
    try checkOfThisProcess()
    guard takesWrites else { throw participant == nil ? observes : .mirrored }
  }

  /// Runs `body` with the participant, whose references are not counted: this segment holds it meanwhile.
  /// - Returns: nil for an observer.
  @inline(__always) @discardableResult
  func withParticipant<R, E: Error>(_ body: (Participant) throws(E) -> R) throws(E) -> R? {
    try uncounted?.with(body)
  }

  /// As ``withParticipant(_:)``, where the caller knows that this is no observer: ``checkWriting()`` said so, or the thread is in a barrier.
  @inline(__always)
  func withKnownParticipant<R, E: Error>(_ body: (Participant) throws(E) -> R) throws(E) -> R {
    try unsafe uncounted.unsafelyUnwrapped.with(body)
  }
}
