import CShims

/// The summaries above the descriptors: one bit a unit, and one bit for every 64 of those. All are hints.
enum Summary {
  /// 0..<64: "has a slab of this class with room".
  static let freeSuperframe = SHM_SUMMARY_FREE_SUPERFRAME
  static let count = SHM_SUMMARIES
}
