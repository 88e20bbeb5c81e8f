#if Metrics
  public import Metrics
  import SharedTable
  import Synchronization

  /// Tells swift-metrics how many asynchronous barriers of this process share one of their table: the recorder
  /// `sharedtable_group_size`, with the dimensions `table` and `queue` (the label; empty for the library's own queues).
  ///
  /// Large groups mean that barriers come faster than one at a time is committed.
  public enum GroupRecorder {
    /// Begins to record, in place of what was begun before.
    /// - Parameter factory: where to; `MetricsSystem.factory` unless given.
    public static func start(factory: any MetricsFactory = MetricsSystem.factory) {
      let recorders = Recorders(factory)
      GroupProbe.set { group in recorders.record(group) }
    }

    /// Ends it. A group that ends just now may be left out, also if whoever waited for it was told.
    public static func stop() { GroupProbe.set(nil) }

    /// A recorder for each queue that has been met.
    private final class Recorders: Sendable {
      private struct Key: Hashable {
        let table: String
        let label: String
      }

      private let factory: any MetricsFactory
      private let known = Mutex<[Key: Recorder]>([:])

      init(_ factory: any MetricsFactory) { self.factory = factory }

      func record(_ group: GroupProbe.Group) {
        find(Key(table: group.table, label: group.label)).record(group.count)
      }

      private func find(_ key: Key) -> Recorder {
        if let recorder = known.withLock({ $0[key] }) { return recorder }
        // The program's code, so outside of the lock. Of two threads that make one at once, the first's counts.
        let new = Recorder(
          label: "sharedtable_group_size", dimensions: [("table", key.table), ("queue", key.label)], factory: factory)
        return known.withLock { known in
          if let first = known[key] { return first }
          known[key] = new
          return new
        }
      }
    }
  }
#endif
