/// What kind of barrier a thread is in: `inBarrier` of its record.
enum BarrierMark: UInt32 {
  case outside = 0
  /// Of the whole table: the thread owns W.
  case wholeTable = 1
  /// Of some keys: the thread holds a key lock, and owns W only while it commits.
  case keyed = 2
  /// Of a part of the table: the thread owns W.
  case part = 3
}
