/// The upper bits of a table's versions: others each time that the table comes back from its store.
///
/// The table before may have handed out versions that its store never came to. In the next epoch none of them can be met again.
package enum VersionEpoch {
  /// An epoch has as many versions as a table can hand out in twelve days at a million a second.
  private static let shift: UInt64 = 40

  /// A table that comes back from a store at the version `applied` hands out versions above this one only.
  package static func base(after applied: UInt64) -> UInt64 { ((applied >> shift) + 1) << shift }

  /// How many versions a table has handed out in its epoch: a figure that begins anew, and does not jump, when the table comes back.
  package static func count(of version: UInt64) -> UInt64 { version & ((1 << shift) - 1) }
}
