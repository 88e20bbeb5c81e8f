/// Instants at which values expire: Redis counts milliseconds since 1970, the table nanoseconds.
enum Instant {
  /// Milliseconds since 1970.
  /// - Throws: if it is no time that SET takes.
  static func parse(
    _ argument: Int, of request: Request, unit: Int, isRelative: Bool, now: UInt64
  ) throws(CommandError) -> Int {
    guard let number = request[argument].integer else { throw .notAnInteger }
    guard number > 0 else { throw .invalidExpiry(request.name) }
    return try milliseconds(number, of: request, unit: unit, isRelative: isRelative, now: now)
  }

  static func milliseconds(
    _ number: Int, of request: Request, unit: Int, isRelative: Bool, now: UInt64
  ) throws(CommandError) -> Int {
    let (scaled, overflow) = number.multipliedReportingOverflow(by: unit)
    let (sum, overflow2) = scaled.addingReportingOverflow(isRelative ? Int(now / 1_000_000) : 0)
    if overflow || overflow2 { throw .invalidExpiry(request.name) }
    return min(sum, last)
  }

  /// The last that the table's clock counts to, in the year 2554; what is later is that. Otherwise a key that lasts until then would be given a
  /// later time, told as changed, again and again.
  private static let last = Int(UInt64.max / 1_000_000)

  /// For the table, of milliseconds up to the last.
  static func nanoseconds(_ milliseconds: Int) -> UInt64 {
    max(1, UInt64(clamping: milliseconds) * 1_000_000)
  }
}
