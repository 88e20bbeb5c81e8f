/// The slab of each class that last gave a block: where this process looks first. A guess, proved at every use.
///
/// Used under W only, in raw memory for the same reason as ``WorkCounters``.
@safe
final class RecentSlabs: @unchecked Sendable {
  // Sendable because only the owner of the writer lock touches it.
  private let places: UnsafeMutablePointer<Int>

  init() {
    unsafe places = .allocate(capacity: SizeClasses.maximumCount)
    unsafe places.initialize(repeating: -1, count: SizeClasses.maximumCount)
  }

  deinit { unsafe places.deallocate() }

  /// Number of the superframe, counted over all units; -1 = none.
  subscript(sizeClass: Int) -> Int {
    get { unsafe places[sizeClass] }
    set { unsafe places[sizeClass] = newValue }
  }
}
