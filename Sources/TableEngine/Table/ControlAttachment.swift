import CShims
import SharedMemory

/// A control object as this process maps it: once for all its handles, and unmapped with the last reference.
///
/// Unmapping memory that holds a locked robust mutex cuts the kernel's list of the thread that locked it, and silently
/// cancels the robustness of what that thread had locked before. So a thread that holds a mutex in this memory beyond a
/// section holds a reference as well, until after its unlock: `SlotRelease` lists them. A table that is opened again while there are
/// references finds its mapping, its number and its threads' slots.
final class ControlAttachment: Sendable {
  /// Process-unique, never reused: the key of threads' records.
  let id: UInt64
  let memory: MappedMemory
  let byteCount: Int
  let status: SharedObject.Status
  private let mapping: Mapping

  init(id: UInt64, mapping: Mapping, status: SharedObject.Status) {
    self.id = id
    self.status = status
    memory = unsafe MappedMemory(base: mapping.base)
    byteCount = mapping.count
    self.mapping = mapping
  }

  /// Takes the registry's lock: no reference may be dropped under it, nor under ForkLock.
  deinit { SegmentRegistry.shared.forgetAttachment(ObjectIdentifier(self), of: status) }

  var slots: Slots { Slots(ctl: memory, count: ControlLayout.slotCount) }
}
