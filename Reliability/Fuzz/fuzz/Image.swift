import Glibc
@testable import SharedTable
import TestSupport

@testable import SharedMemory
@testable import TableEngine

/// What the observed table is made of.
enum Template: CaseIterable {
  /// Values of every type, old versions, tombstones, a long value.
  case rcu, rwlock
  /// Keys made to share their upper bits: directory nodes, deep sub-tables.
  case deep
}

/// A valid data object, mapped as an observer would, but surrounded by nothing.
final class Image {
  let words: Words
  let mapping: Mapping
  let places: Places
  /// Some that are in it, one that is not.
  let keys: [[UInt8]]

  init(_ template: Template) throws {
    (words, keys) = try withTableName { (name: String) throws -> (Words, [[UInt8]]) in
      let variant: Table.Variant = template == .rwlock ? .rwlock : .rcu
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 2 << 20, preallocate: true))
      let snapshot = variant == .rcu ? try table.snapshot() : nil
      let keys = template == .deep ? try Self.fillDeep(table) : try Self.fill(table)
      _ = snapshot?.version
      return (try Self.copy(of: table), keys)
    }
    let geometry = Geometry(capacityBytes: Int(words[DataLayout.capacity]))
    mapping = .guarded(words.object, count: geometry.dataBytes)
    places = Survey(words, hashSeed: words[DataLayout.hashSeed]).places(keys)
  }

  private static func fill(_ table: Table) throws -> [[UInt8]] {
    for round in 0..<3 {
      for index in 0..<24 { try table.set("k\(index)", [UInt8](repeating: UInt8(round), count: index * 9)) }
      try table.set("k.number", round)
      try table.set("k.string..", "text \(round)", expires: .at(nanosecondsSince1970: 3_000_000_000))
      try table.set("k.expired", round, expires: .at(nanosecondsSince1970: 1))
      try table.remove("k7")
    }
    try table.set("k.double", 0.5)
    try table.set("k.long", [UInt8](repeating: 7, count: 100_000))
    try table.set("k.truth", true)
    return ["k0", "k7", "k23", "k.number", "k.string..", "k.expired", "k.long", "absent"].map { [UInt8]($0.utf8) }
  }

  /// More than fit into one window at the deepest level.
  private static func fillDeep(_ table: Table) throws -> [[UInt8]] {
    let forge = KeyForge(seed: table.segment.hashSeed)
    let keys = (0..<48 as Range<UInt64>).map { forge.key(hash: 0x1234_5400_0000_4321 | $0 << 24) }
    for (index, key) in keys.enumerated() { try table.set(key, index) }
    for index in 0..<16 { try table.set("k\(index)", "shallow") }
    for key in keys.prefix(8) { try table.set(key, "again") }
    return [keys[0], keys[20], keys[47], forge.key(hash: 0x1234_5400_0000_4321 | 99 << 24), [UInt8]("k3".utf8)]
  }

  /// A copy that has no name, and is longer than its header says.
  private static func copy(of table: Table) throws -> Words {
    try withObjectName { name in
      let source = try SharedObject.open(name: "shmtable.\(table.name).data", writable: false)
      let size = try source.status().size
      let copy = try SharedObject.create(name: name, mode: 0o600)
      try copy.allocate(offset: 0, count: table.segment.geometry.dataBytes + 1 << 20)
      let (from, to) = (try source.map(count: size, writable: false), try copy.map(count: size, writable: true))
      withExtendedLifetime((from, to)) { _ = memcpy(to.base, from.base, size) }
      return try Words(copy)
    }
  }
}
