import CShims
import SharedMemory

/// What this thread knows of a segment: its slot and the sections it is in.
typealias ThreadRecord = UnsafeMutablePointer<shm_thread_record>

extension Segment {
  /// This thread's record, made at its first use of the segment; a participant's comes with a slot.
  ///
  /// - Throws: `forked` in a child that inherited the handle, `slotsExhausted`.
  func threadRecord() throws(EngineError) -> ThreadRecord {
    if let record = unsafe shm_thread_quick_find(id) { return unsafe record }
    #if !MUTANT_FORK_UNSEEN
      guard shm_fork_generation() == forkGeneration else { throw .forked }
    #endif
    var slot = -1
    if let participant { slot = try participant.slots.claim() }
    guard let record = unsafe shm_thread_add(id) else {
      if slot >= 0 { participant!.slots.release(slot) }
      throw .system(SystemError(call: "malloc", errno: 12))
    }
    if let participant {
      unsafe record.pointee.slot = participant.ctl.pointer(participant.slots.offset(slot))
      unsafe record.pointee.slotIndex = UInt32(slot)
    }
    return unsafe record
  }
}
