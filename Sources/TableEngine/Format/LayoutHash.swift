import CShims
import SharedMemory

/// One number for everything two processes must agree on to share a table's bytes: every field of every struct and every
/// constant of `shm_format.h`, and where the regions begin that depend on the capacity.
///
/// A change of the format changes it by itself, so one that forgets to raise the version is refused all the same.
package enum LayoutHash {
  static let value = hash(of: formatItems + regionItems)

  /// libc, machine and lock sizes: what participants must share besides, since they share pthread objects.
  static let fingerprint: UInt64 = {
    let host = HostFingerprint.current
    var fold = Fold()
    fold.add("\(host.architecture) \(host.libcVersion) \(host.mutexByteCount) \(host.rwlockByteCount)")
    return fold.hash
  }()

  /// One thing that peers must agree on.
  package struct Item: Equatable {
    /// A struct's name, or of which kind the item is.
    package var owner: String
    package var name: String
    /// A field's offset, a constant's value.
    package var value: UInt64
    /// A field's, in bytes.
    package var size: UInt64

    package init(owner: String, name: String, value: UInt64, size: UInt64) {
      self.owner = owner
      self.name = name
      self.value = value
      self.size = size
    }
  }

  /// What `shm_format.h` says. A struct itself has no name but that of its fields' owner.
  package static var formatItems: [Item] {
    var count = 0
    let items = unsafe shm_format_items(&count)
    return (0..<count).map { index in
      let item = unsafe items[index]
      return unsafe Item(
        owner: String(cString: item.owner), name: String(cString: item.name), value: item.value, size: item.size)
    }
  }

  /// The regions of a small, a middling and the largest table: constants that stand in ``Geometry``'s arithmetic alone.
  package static var regionItems: [Item] {
    [Geometry.minimumCapacity, 1 << 30 + 7 * Geometry.unitBytes, Geometry.maximumCapacity].flatMap { capacity in
      Geometry(capacityBytes: capacity).regions.map { name, offset in
        Item(owner: "table of \(capacity)", name: name, value: UInt64(offset), size: 0)
      }
    }
  }

  package static func hash(of items: [Item]) -> UInt64 {
    var fold = Fold()
    for item in items {
      fold.add(item.owner)
      fold.add(item.name)
      fold.add(item.value)
      fold.add(item.size)
    }
    return fold.hash
  }

  /// FNV-1a (Fowler, Noll, Vo).
  private struct Fold {
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    private mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    /// With its end: two texts are not the same as one of both.
    mutating func add(_ text: String) {
      for byte in text.utf8 { add(byte) }
      add(UInt8(0))
    }

    mutating func add(_ number: UInt64) {
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
  }
}
