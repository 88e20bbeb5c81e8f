/// Checks the change log, for ``TableCheck``.
extension ChangeLog {
  /// No log comes as far as this position: one behind it is damage. Below it, no sum of a position and a record's size
  /// overflows.
  static let positionLimit: UInt64 = 1 << 60

  /// What is wrong with it; nil if nothing is.
  func flaw(committed: UInt64) -> String? {
    guard endPosition >= tailPosition, endPosition - tailPosition <= UInt64(byteCount), tailPosition % 16 == 0,
      endPosition < Self.positionLimit
    else {
      return "ends at \(endPosition) and begins at \(tailPosition)"
    }
    var position = tailPosition
    var records: UInt64 = 0
    var last: UInt64 = 0
    while position < endPosition {
      let place = DataLayout.log + Int(position % UInt64(byteCount))
      let version = data.loadRelaxed(place)
      let header = data.loadRelaxed(place + ChangeLog.header)
      guard Self.byteCount(header) >= 16, header & 15 == 0, let operation = Self.operation(header) else {
        return "holds no record at \(position)"
      }
      let rest = min(endPosition - position, UInt64(byteCount) - position % UInt64(byteCount))
      guard Self.byteCount(header) <= rest else {
        return "holds a record of \(Self.byteCount(header)) bytes at \(position), where it has \(rest)"
      }
      guard Self.lowOrdinal(header) == (tailOrdinal &+ records) & Self.ordinalMask else {
        return "holds a record of another ordinal at \(position)"
      }
      if operation != .padding {
        let (length, isPossible) = keyLength(ofRecordAt: place, byteCount: Int(Self.byteCount(header)))
        guard isPossible else { return "holds a record at \(position) whose key would have \(length) bytes" }
        records += 1
      }
      guard version >= last, version <= committed else { return "goes from version \(last) to \(version)" }
      last = version
      position += Self.byteCount(header)
    }
    let counted = endOrdinal &- tailOrdinal
    return records == counted ? nil : "holds \(records) records but counts \(counted)"
  }
}
