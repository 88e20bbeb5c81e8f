import CShims
import SharedMemory
import Synchronization

/// Names one run of one program that has the table open, in a form that other processes can check.
///
/// What a process writes into a table ("I am doing this") outlives it, so whoever reads it must be able to tell whether
/// its writer lives. A pid cannot: numbers are reused, a zombie still has one, and exec keeps number and start time. A
/// presence names a slot whose robust mutex the process's keeper thread holds for life: the kernel marks it when the
/// program ends, however it ends.
public struct Presence: Sendable, Equatable {
  public let slot: UInt64
  /// CLOCK_MONOTONIC when the slot was claimed: with `pid`, it tells this process from those that had the slot before.
  public let since: UInt64
  public let pid: UInt64

  public init(slot: UInt64, since: UInt64, pid: UInt64) {
    self.slot = slot
    self.since = since
    self.pid = pid
  }
}

extension Segment {
  /// This process's presence. The first call waits for a thread switch and takes one of the table's slots.
  /// - Throws: `slotsExhausted`, `forked`, `notPermitted` (observer).
  public func presence() throws(EngineError) -> Presence {
    let participant = try requireParticipant()
    let slot = try participant.presence.slot()
    let offset = participant.slots.offset(slot)
    return Presence(
      slot: UInt64(slot), since: participant.ctl.loadRelaxed(offset + SlotLayout.since),
      pid: participant.ctl.loadRelaxed(offset + SlotLayout.pid))
  }

  /// Whether the process that wrote this presence down still runs. False for one that nobody can have written. Never
  /// blocks.
  public func isPresent(_ presence: Presence) throws(EngineError) -> Bool {
    let participant = try requireParticipant()
    guard presence.slot < UInt64(participant.slots.highWater) else { return false }
    let slot = Int(presence.slot)
    guard participant.slots.isHeld(slot) else { return false }
    // A living thread has the slot, but is it the same? If the slot is being claimed just now, it may still show its
    // last owner's words: a later call finds out.
    let offset = participant.slots.offset(slot)
    return participant.ctl.loadRelaxed(offset + SlotLayout.since) == presence.since
      && participant.ctl.loadRelaxed(offset + SlotLayout.pid) == presence.pid
  }
}
