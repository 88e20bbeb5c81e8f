import CShims
import SharedMemory
import Synchronization

/// A control object as this process maps it: once, and for the life of the process.
///
/// Unmapping memory that holds a locked robust mutex cuts the kernel's list of its thread and silently cancels the
/// robustness of what that thread locked before; and threads keep their slots' mutexes for life. So the mapping is
/// never undone, and a table that is opened again finds its mapping, its number and its threads' slots. Only what
/// nobody has used yet, a table whose making failed, is let go: else each attempt would keep its pages in /dev/shm.
final class ControlAttachment: Sendable {
  /// Process-unique, never reused: the key of threads' records.
  let id: UInt64
  let object: SharedObject
  let memory: Memory
  let byteCount: Int
  let status: SharedObject.Status
  let forkGeneration: UInt64
  private let mapping: Mapping

  init(id: UInt64, object: SharedObject, mapping: Mapping, status: SharedObject.Status) {
    self.id = id
    self.object = object
    self.status = status
    memory = unsafe Memory(base: mapping.base)
    byteCount = mapping.count
    forkGeneration = shm_fork_generation()
    self.mapping = mapping
  }
}

/// The tables of this process.
///
/// A thread's sections are kept by control object, so two handles of one table must share one attachment, or a
/// barrier through the second inside a read through the first would wait for ever instead of failing at once (G11).
final class SegmentRegistry: Sendable {
  static let shared = SegmentRegistry()

  private struct State {
    var lastID: UInt64 = 0
    var attachments: [ControlAttachment] = []
    /// The segment over an attachment, by the attachment's number.
    var segments: [UInt64: WeakSegment] = [:]
  }

  private struct WeakSegment {
    weak var segment: Segment?
    /// Which segment this is, for its own end: it cannot be loaded from `segment` any more then.
    let identity: ObjectIdentifier
  }

  private let state = Mutex(State())

  /// Runs `body` with both locks held. It must not drop a reference that may be the last one to a segment: a segment's end
  /// takes these locks itself, so the thread would wait for itself and every fork of the process for that thread (G11).
  /// What `body` loads from a weak reference it therefore returns.
  private func withState<R>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  /// A number for a segment without a control object.
  func newID() -> UInt64 {
    withState { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// The attachment of a control object, mapped now if it was not. One inherited through fork does not count.
  func attach(_ object: SharedObject, byteCount: Int) throws(SystemError) -> ControlAttachment {
    let status = try object.status()
    let result = withState { state -> Result<ControlAttachment, SystemError> in
      let generation = shm_fork_generation()
      let known = state.attachments.first {
        $0.forkGeneration == generation && $0.status.isSameObject(as: status)
      }
      if let known { return .success(known) }
      return Result { () throws(SystemError) in
        let mapping = try object.map(count: byteCount, writable: true)
        state.lastID += 1
        let attachment = ControlAttachment(id: state.lastID, object: object, mapping: mapping, status: status)
        state.attachments.append(attachment)
        return attachment
      }
    }
    return try result.get()
  }

  /// Unmaps a control object again, of which no thread has claimed a slot.
  func discard(_ object: SharedObject) {
    withState { state in state.attachments.removeAll { $0.object === object } }
  }

  /// The living segment over an attachment, or the one that `make` makes.
  func segment(
    over attachment: ControlAttachment, _ make: () throws(SystemError) -> Segment
  ) throws(SystemError) -> Segment {
    let result = withState { state -> Result<Segment, SystemError> in
      // In two steps: of a missing entry the compiler would load the weak reference by a null pointer.
      if let entry = state.segments[attachment.id], let living = entry.segment { return .success(living) }
      return Result { () throws(SystemError) in
        let segment = try make()
        state.segments[attachment.id] = WeakSegment(segment: segment, identity: ObjectIdentifier(segment))
        return segment
      }
    }
    return try result.get()
  }

  /// Forgets a segment at its end, unless the attachment has got another one since.
  func forget(_ identity: ObjectIdentifier, over attachment: UInt64) {
    withState { state in
      guard let entry = state.segments[attachment], entry.identity == identity else { return }
      state.segments.removeValue(forKey: attachment)
    }
  }
}
