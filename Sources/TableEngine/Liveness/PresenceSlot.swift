import CShims
import SharedMemory
import Synchronization

/// The slot of a process's presence: claimed at first use, given back with the segment.
final class PresenceSlot: Sendable {
  private let claimed = Atomic(-1)
  private let forkGeneration = ForkGeneration()
  private let attachment: ControlAttachment

  init(_ attachment: ControlAttachment) { self.attachment = attachment }

  deinit {
    let slot = claimed.load(ordering: .relaxed)
    if slot >= 0, forkGeneration.isOfThisProcess { SlotKeeper.shared.release(attachment, slot) }
  }

  func slot() throws(EngineError) -> Int {
    let known = claimed.load(ordering: .acquiring)
    if known >= 0 { return known }
    let slot = try SlotKeeper.shared.claim(attachment, purpose: SlotPurpose.presence)
    let (exchanged, first) = claimed.compareExchange(expected: -1, desired: slot, ordering: .acquiringAndReleasing)
    if exchanged { return slot }
    // Another thread was faster.
    SlotKeeper.shared.release(attachment, slot)
    return first
  }
}
