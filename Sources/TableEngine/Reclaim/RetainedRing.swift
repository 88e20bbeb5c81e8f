/// *retained*: old versions that a snapshot needed when they were looked at.
///
/// ```
/// 0 entry; | 1 for a tombstone   8 stamp, as in *superseded*
/// ```
package enum RetainedRing {
  package static let recordBytes = 16
}
