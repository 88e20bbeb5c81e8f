import CShims
import SharedMemory
import Synchronization

/// The tables of this process.
///
/// A thread's sections are kept by control object, so two handles of one table must share one attachment, or a
/// barrier through the second inside a read through the first would wait for ever instead of failing at once (G11).
final class SegmentRegistry: Sendable {
  static let shared: SegmentRegistry = {
    // Before any thread has a slot that its end could give back.
    shm_thread_at_end { SlotRelease.giveBackAll() }
    return SegmentRegistry()
  }()

  private struct State {
    var lastID: UInt64 = 0
    /// By what tells control objects apart.
    var attachments: [ObjectKey: WeakAttachment] = [:]
    /// The segment over an attachment, by the attachment's number.
    var segments: [UInt64: WeakSegment] = [:]
    /// Attachments in which threads hold slots, by number.
    var held: [UInt64: Held] = [:]
  }

  private struct ObjectKey: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: SharedObject.Status) {
      device = status.device
      inode = status.inode
    }
  }

  private struct WeakAttachment {
    weak var attachment: ControlAttachment?
    /// Which it is, for its own end: it cannot be loaded from `attachment` any more then.
    let identity: ObjectIdentifier
  }

  private struct WeakSegment {
    weak var segment: Segment?
    let identity: ObjectIdentifier
  }

  private struct Held {
    let attachment: ControlAttachment
    var threads: Int
  }

  /// In a child made by fork none of the threads that held slots is there, and its own thread holds no mutex of its parent's.
  ///
  /// Nobody drops, with it locked, a reference that may be the last one to a segment or an attachment: their ends take its locks
  /// themselves, so the thread would wait for itself and every fork of the process for that thread (G11). What is loaded from a weak reference is
  /// therefore returned.
  private let state = ForkSafeState(State()) { State(lastID: $0.lastID) }
  private let endCount = Atomic<UInt64>(0)

  /// How many segments of this process have ended.
  ///
  /// PAIR segment-ends. Other end: SegmentRegistry.forget. A thread that sees a count finds the segments that it counts
  /// forgotten.
  var ends: UInt64 { endCount.load(ordering: .acquiring) }

  /// A number for a segment without a control object.
  func newID() -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  // MARK: - Attachments

  /// The attachment of a control object, mapped now if it was not. One inherited through fork does not count.
  func attach(_ object: SharedObject, byteCount: Int) throws(SystemError) -> ControlAttachment {
    let status = try object.status()
    let key = ObjectKey(status)
    let result = state.withLock { state -> Result<ControlAttachment, SystemError> in
      // In two steps: of a missing entry the compiler would load the weak reference by a null pointer.
      if let entry = state.attachments[key], let known = entry.attachment { return .success(known) }
      return Result { () throws(SystemError) in
        let mapping = try object.map(count: byteCount, writable: true)
        state.lastID += 1
        let attachment = ControlAttachment(id: state.lastID, mapping: mapping, status: status)
        state.attachments[key] = WeakAttachment(attachment: attachment, identity: ObjectIdentifier(attachment))
        return attachment
      }
    }
    return try result.get()
  }

  /// Forgets an attachment at its end, unless the object has got another one since.
  func forgetAttachment(_ identity: ObjectIdentifier, of status: SharedObject.Status) {
    let key = ObjectKey(status)
    state.withLock { state in
      guard let entry = state.attachments[key], entry.identity == identity else { return }
      state.attachments.removeValue(forKey: key)
    }
  }

  // MARK: - Threads' slots

  /// Holds the attachment in the name of a thread that has taken a slot in it.
  func hold(_ attachment: ControlAttachment) {
    state.withLock { $0.held[attachment.id, default: Held(attachment: attachment, threads: 0)].threads += 1 }
  }

  /// The attachment with this number, if a thread holds a slot in it.
  func heldByThreads(_ id: UInt64) -> ControlAttachment? { state.withLock { $0.held[id]?.attachment } }

  /// A thread has given its slot back.
  func release(_ id: UInt64) {
    // Dropped after the locks.
    let last = state.withLock { state -> Held? in
      state.held[id]!.threads -= 1
      return state.held[id]!.threads == 0 ? state.held.removeValue(forKey: id) : nil
    }
    withExtendedLifetime(last) {}
  }

  // MARK: - Segments

  /// The living segment over an attachment, or the one that `make` makes.
  func segment(
    over attachment: ControlAttachment, _ make: () throws(SystemError) -> Segment
  ) throws(SystemError) -> Segment {
    let result = state.withLock { state -> Result<Segment, SystemError> in
      if let entry = state.segments[attachment.id], let living = entry.segment { return .success(living) }
      return Result { () throws(SystemError) in
        let segment = try make()
        state.segments[attachment.id] = WeakSegment(segment: segment, identity: ObjectIdentifier(segment))
        return segment
      }
    }
    return try result.get()
  }

  /// Those of participants that have not ended.
  var segments: [Segment] { state.withLock { $0.segments.values.compactMap { $0.segment } } }

  /// Whether there is a segment over the attachment with this number that has not been forgotten.
  func isOpen(_ attachment: UInt64) -> Bool { state.withLock { $0.segments[attachment] != nil } }

  /// Forgets a segment at its end, unless the attachment has got another one since.
  func forget(_ identity: ObjectIdentifier, over attachment: UInt64) {
    state.withLock { state in
      guard let entry = state.segments[attachment], entry.identity == identity else { return }
      state.segments.removeValue(forKey: attachment)
      // PAIR segment-ends. Other end: SegmentRegistry.ends. After the removal: who sees the new count finds no entry.
      endCount.add(1, ordering: .releasing)
    }
  }
}
