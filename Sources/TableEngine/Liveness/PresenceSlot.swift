import CShims
import SharedMemory
import Synchronization

/// The slot of a process's presence: claimed at first use, given back with the segment.
final class PresenceSlot: Sendable {
  private let claimed = Atomic(-1)
  private let kept = Mutex<KeptSlot?>(nil)
  private let forkGeneration = ForkGeneration()
  private let attachment: ControlAttachment

  init(_ attachment: ControlAttachment) { self.attachment = attachment }

  deinit {
    // In a forked child another thread of the parent may have the lock for ever.
    if forkGeneration.isOfThisProcess, let slot = kept.withLock({ $0 }) { slot.release() }
  }

  func slot() throws(EngineError) -> Int {
    let known = claimed.load(ordering: .acquiring)
    if known >= 0 { return known }
    let slot = try SlotKeeper.claim(attachment, purpose: SlotPurpose.presence)
    let (exchanged, first) = claimed.compareExchange(
      expected: -1, desired: slot.index, ordering: .acquiringAndReleasing)
    guard exchanged else {
      // Another thread was faster.
      slot.release()
      return first
    }
    kept.withLock { $0 = slot }
    return slot.index
  }
}
