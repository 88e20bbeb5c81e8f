/// Which versions some reader may still read: the test by which ``Collector`` decides whether to unlink an old version.
struct NeededVersions {
  /// The lowest version that a pending reader may yet take. A version that was superseded after it stays in its chain: that reader may still need
  /// it.
  private(set) var lowestPending = UInt64.max
  /// Snapshots in use, exactly.
  private(set) var exact: [UInt64] = []
  /// The oldest of them.
  private(set) var lowestExact = UInt64.max

  mutating func addPending(_ version: UInt64) { lowestPending = min(lowestPending, version) }
  mutating func addExact(_ version: UInt64) {
    exact.append(version)
    lowestExact = min(lowestExact, version)
  }

  enum Need { case none, snapshot, pending }

  /// Which kind of reader may still need version `x` of a key whose next newer version is `newer`.
  func need(of x: UInt64, newer: UInt64) -> Need {
    for snapshot in exact where x <= snapshot && snapshot < newer { return .snapshot }
    return newer > lowestPending ? .pending : .none
  }

  /// Changes whenever the set of exact snapshots does (but for collisions, which only delay a rescan). Never 0.
  var signature: UInt64 {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
    for snapshot in exact.sorted() { hash = (hash ^ snapshot) &* 0x0000_0100_0000_01b3 }
    return hash | 1
  }

  /// As ``signature``, for where something was retained for the pending reader too: changes also when that reader moves on.
  var signatureWithPending: UInt64 { (signature ^ lowestPending) &* 0x9e37_79b9_7f4a_7c15 | 1 }
}
