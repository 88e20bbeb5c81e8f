public import CShims
import SharedMemory

/// What this thread knows of a segment: its slot and the sections it is in.
typealias ThreadRecord = UnsafeMutablePointer<shm_thread_record>

extension Segment {
  /// This thread's record, made at its first use of the segment; a participant's comes with a slot.
  ///
  /// - Throws: `forked` in a child that inherited the handle, `slotsExhausted`.
  @inline(__always)
  func threadRecord() throws(EngineError) -> ThreadRecord {
    if let record = unsafe shm_thread_quick_find(id) { return unsafe record }
    return try unsafe makeThreadRecord()
  }

  @inline(never)
  private func makeThreadRecord() throws(EngineError) -> ThreadRecord {
    try checkOfThisProcess()
    SlotRelease.giveBackEnded()
    var slot = -1
    if let participant { slot = try participant.slots.claim() }
    guard let record = unsafe shm_thread_add(id) else {
      if slot >= 0 { participant!.slots.release(slot) }
      throw .system(SystemError(call: "malloc", errno: 12))
    }
    if let participant {
      unsafe record.pointee.slot = participant.ctl.pointer(participant.slots.offset(slot))
      unsafe record.pointee.slotIndex = UInt32(slot)
      SegmentRegistry.shared.hold(participant.attachment)
    }
    return unsafe record
  }
}

extension Segment {
  /// The section of this table that the calling thread is in, whichever handle of this process opened it.
  @inlinable public var threadSection: ThreadSection {
    guard let record = unsafe shm_thread_quick_find(id) else { return .none }
    if unsafe record.pointee.inBarrier != 0 { return .barrier }
    return unsafe record.pointee.readDepth != 0 ? .read : .none
  }

  /// Is the calling thread in a barrier that excludes every other section of the table that changes something?
  public var isInWholeBarrier: Bool {
    guard let record = unsafe shm_thread_quick_find(id) else { return false }
    return unsafe record.pointee.inBarrier == Barriers.wholeMark
  }

  /// A small number that no other living thread of this process has, once it has used the table; else 0.
  @inlinable public var threadNumber: Int {
    guard let record = unsafe shm_thread_quick_find(id) else { return 0 }
    return unsafe Int(record.pointee.slotIndex)
  }
}
