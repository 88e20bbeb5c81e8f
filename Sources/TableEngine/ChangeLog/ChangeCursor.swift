/// Where in the log somebody has read to. A value of this process: nothing in shared memory knows of it, so the log
/// waits for no reader.
public struct ChangeCursor: Sendable {
  /// Records up to this version are not for this reader.
  let start: UInt64
  /// Of the record to read next.
  var position: UInt64 = 0
  /// Its ordinal, as far as known: never too low for what was read, and set right by each record.
  var ordinal: UInt64 = 0
  /// False until the position means anything.
  var isPlaced = false
  /// Every record up to this version was looked at, was told as missed, or is not for this reader.
  public internal(set) var readVersion: UInt64
  /// Only records up to `start` were met so far: those that were pushed out meanwhile are none of this reader's.
  var isSearching = true

  /// Everything that was committed after a version.
  public init(after version: UInt64) {
    start = version
    readVersion = version
  }
}
