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
    if let participant {
      try Slots.checkThreadHasRoomForOneMore()
      slot = try participant.slots.claim()
    }
    guard let record = unsafe shm_thread_add(id) else {
      if slot >= 0 { participant!.slots.release(slot) }
      throw .full(.addressSpace)
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

  /// Is the calling thread in a barrier of the whole table?
  public var isInWholeBarrier: Bool { barrierMark == BarrierMark.wholeTable.rawValue }

  /// Does the calling thread own W, in a barrier of the whole table or of a part of it?
  var isOwnedByThisThread: Bool { isInWholeBarrier || barrierMark == BarrierMark.part.rawValue }

  /// What kind of barrier the calling thread is in: a ``BarrierMark``.
  private var barrierMark: UInt32 {
    guard let record = unsafe shm_thread_quick_find(id) else { return BarrierMark.outside.rawValue }
    return unsafe record.pointee.inBarrier
  }

  /// The number of the calling thread's slot. 0 also for a thread that has none: one that has not used the table yet, or an observer's.
  @inlinable public var threadNumber: Int {
    guard let record = unsafe shm_thread_quick_find(id) else { return 0 }
    return unsafe Int(record.pointee.slotIndex)
  }
}
