import SharedMemory
import TableStore

/// All that monitoring knows at one moment. Requests are answered from the newest one.
struct HostSample: Sendable {
  /// Counts the samples of this process.
  var number: UInt64 = 0
  /// Of the monotonic clock, and of the day.
  var takenNanoseconds = HostClock.monotonicNanoseconds
  var wallNanoseconds = HostClock.realtimeNanoseconds
  /// How long the table thread was busy with it. That the thread first had other things to do does not count.
  var tookNanoseconds: UInt64 = 0
  var tables: [TableSample] = []
  var blocked: [BlockedSample] = []
  var stores: [(table: String, status: StoreStatus)] = []
  var storeTroubles: [String] = []
  var mirrors: [MirrorSample] = []
  var mirrorTroubles: [String] = []
  var counters = DaemonCounters.Values()
  var history = FillHistory()
}
