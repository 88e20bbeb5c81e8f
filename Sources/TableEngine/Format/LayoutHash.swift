import CShims
import SharedMemory

/// One number for everything two processes must agree on to share a table's bytes: every field of every struct and every
/// constant of `shm_format.h`, and where the regions begin that depend on the capacity.
///
/// A change of the format changes this number by itself: a peer is refused even if somebody forgot to raise the
/// version.
package enum LayoutHash {
  static let value = unsafe hash(of: formatItems + regionItems)

  /// libc, machine and lock sizes: what participants must share besides, since they share pthread objects.
  static let fingerprint: UInt64 = {
    let host = PlatformFingerprint.current
    var text = "\(host.architecture) \(host.libcVersion) \(host.mutexByteCount) \(host.rwlockByteCount)"
    return text.withUTF8 { unsafe shm_hash($0.baseAddress!, $0.count, 0) }
  }()

  /// What `shm_format.h` says.
  package static var formatItems: [shm_format_item] {
    var count = 0
    let items = unsafe shm_format_items(&count)
    return unsafe Array(UnsafeBufferPointer(start: items, count: count))
  }

  /// The regions of a small, a middling and the largest table: they stand for the numbers in ``Geometry``'s arithmetic. An
  /// item's size is the table's capacity here.
  package static var regionItems: [shm_format_item] {
    var items: [shm_format_item] = unsafe []
    for capacity in [Geometry.minimumCapacity, (1 << 30) + 7 * Geometry.unitBytes, Geometry.maximumCapacity] {
      for (name, value) in Geometry(capacityBytes: capacity).regions {
        unsafe items.append(
          shm_format_item(
            owner: cString("region"), name: cString(name), value: UInt64(value), size: UInt64(capacity)))
      }
    }
    return unsafe items
  }

  private static func cString(_ text: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  package static func hash(of items: [shm_format_item]) -> UInt64 {
    unsafe shm_format_hash(SHM_FORMAT_HASH_START, items, items.count)
  }
}
