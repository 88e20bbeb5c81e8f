import CShims
import SharedMemory

/// How the threads give back their slots of a table that this process lets go, and the last of them its mapping: "The end of a
/// segment" in DESIGN.md.
///
/// ```
/// last reference to the Segment:  registry forgets it; `ends` += 1
///                                 the thread that dropped it gives back its own slot
///                                 data unmapped, both descriptors closed
/// each other thread:              gives back its slot at its first use of another table, or at its own end
/// keeper thread:                  gives back the slots of presence and of long snapshots, on request
/// last of all these:              ctl unmapped
/// ```
///
/// A slot's mutex is unlocked by the thread that locked it and by no other: its place in the kernel's list of robust mutexes
/// is that thread's own. So *ctl* stays mapped until the last thread has come by: the registry holds the attachment in the
/// name of each of them. Invariant: while a thread of this process holds a mutex in *ctl*, there is a reference to the
/// attachment.
///
/// How many are waited for is bounded: a thread takes a slot in `threadRecord()` only, and gives back there first what it has
/// in segments that ended. So what an idle thread holds are tables that were open together when it last took a slot.
enum SlotRelease {
  /// Gives back this thread's slots of segments that have ended since it last did. One load if none has.
  static func giveBackEnded() {
    guard shm_thread_learn_ends(SegmentRegistry.shared.ends) else { return }
    giveBack { SegmentRegistry.shared.isOpen($0) }
  }

  /// Gives back this thread's slot of one table, whether or not somebody else has it open.
  static func giveBack(_ id: UInt64) {
    if let record = unsafe shm_thread_find(id) { unsafe giveBack(record) }
  }

  /// Gives back all of this thread's slots: at its end.
  static func giveBackAll() { giveBack { _ in false } }

  private static func giveBack(except isKept: (UInt64) -> Bool) {
    var record = unsafe shm_thread_next(nil)
    while let current = unsafe record {
      if !isKept(unsafe current.pointee.segment) { unsafe giveBack(current) }
      unsafe record = shm_thread_next(current)
    }
  }

  /// A thread that ends inside a section keeps its slot, for the kernel to mark. If it held the rwlock, the lock stays
  /// held for ever, and only `Slots.reap` notes that. The thread's reference to the attachment stays as well.
  private static func giveBack(_ record: ThreadRecord) {
    guard unsafe record.pointee.slot != nil, unsafe shm_thread_is_outside(record) else { return }
    let id = unsafe record.pointee.segment
    guard let attachment = SegmentRegistry.shared.heldByThreads(id) else { return }
    attachment.slots.release(unsafe Int(record.pointee.slotIndex))
    shm_thread_remove(id)
    // After the unlock: it may be the last reference but ours.
    SegmentRegistry.shared.release(id)
  }
}
