/// *superseded*: old versions in the order in which they were superseded, each named once, by the transaction that superseded
/// it. A tombstone is named by its own transaction.
///
/// ```
/// 0 block   8 stamp: the version that superseded it; of a tombstone its own   16 the next newer entry; or the tombstone | 1
/// ```
enum SupersededRing {
  static let recordBytes = 24
}
