/// Limbo: unlinked blocks in the order of their stamps.
///
/// ```
/// 0 block   8 stamp: the version that unlinked it
/// ```
enum LimboRing {
  static let recordBytes = 16
}
