/// How far an ``Evictor`` has come that stopped for a reader. If the writer's next attempt follows within a second, it goes on with as many
/// snapshots as the last one came to. Later it starts with one again.
struct EvictionProgress {
  /// How many snapshots the next step ends.
  var count = 1
  private var time: UInt64 = 0

  private static let longestPauseNanoseconds: UInt64 = 1_000_000_000

  init() {}

  init(after last: EvictionProgress, now: UInt64) {
    count = now &- last.time < Self.longestPauseNanoseconds ? last.count : 1
    time = now
  }
}
