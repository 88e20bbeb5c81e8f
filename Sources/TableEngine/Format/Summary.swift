/// The summaries above the descriptors: one bit a unit, and one bit for every 64 of those. All are hints.
enum Summary {
  /// 0..<64: "has a slab of this class with room".
  static let freeSuperframe = SizeClasses.maximumCount
  static let freeFrame = SizeClasses.maximumCount + 1
  static let count = SizeClasses.maximumCount + 2
}
