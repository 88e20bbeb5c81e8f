import CShims
import Synchronization

/// A shared mapping of an object's first `count` bytes; unmapped when the last reference goes.
///
/// Other processes write to these bytes at any time: access them with the shims' atomics, or where a protocol says
/// that nobody else does.
@safe public final class Mapping: Sendable {
  /// Page-aligned. Valid as long as this object lives, or for ever after `leak()`.
  ///
  /// Swift may release this object right after its last use, which `mapping.base` can be, before the memory is
  /// touched: use `withBase`, or hold the mapping in something that lives longer.
  public nonisolated(unsafe) let base: UnsafeMutableRawPointer
  public let count: Int
  /// False: a store into it is SIGSEGV.
  public let writable: Bool
  private let isLeaked = Atomic(false)

  @unsafe init(base: UnsafeMutableRawPointer, count: Int, writable: Bool) {
    unsafe self.base = base
    self.count = count
    self.writable = writable
  }

  /// Gives the memory to `body` and keeps it mapped meanwhile.
  @inlinable
  public func withBase<R, E: Error>(_ body: (UnsafeMutableRawPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe body(base)
  }

  /// Backs as much of `count` bytes, from a multiple of 2 MiB on, by huge pages as the kernel allows, whole ones only.
  ///
  /// Blocks for some 100 µs for each 2 MiB; other processes go on meanwhile.
  /// Bytes that the object does not have are left alone; holes in it are filled, and count.
  /// - Returns: how many bytes are backed by huge pages now, in this mapping.
  public func collapse(from start: Int, count: Int) -> Int {
    guard start >= 0, start < self.count else { return 0 }
    return unsafe Int(shmos_collapse(base + start, min(max(0, count), self.count - start)))
  }

  /// Never unmaps this memory, also when this object goes.
  ///
  /// Needed where robust mutexes live: unmapping one that is locked cuts the kernel's list of the thread that
  /// holds it, and silently cancels the robustness of what that thread locked before.
  // Relaxed: the release that drops the last reference comes after any call on it.
  public func leak() { isLeaked.store(true, ordering: .relaxed) }

  deinit {
    if !isLeaked.load(ordering: .relaxed) { unsafe _ = shmos_unmap(base, count) }
  }
}
