/// A number of bytes: `1048576`, `64MiB`, `64M` (the same), `64MB` (a million each).
public struct ByteCount: Sendable, Hashable, CustomStringConvertible {
  /// Each 1024 of the one before.
  public static let binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB"]

  public let bytes: Int

  public init(bytes: Int) { self.bytes = bytes }

  public init?(_ text: String) {
    guard let (number, unit) = splitQuantity(text), let factor = Self.factor(unit.lowercased()) else { return nil }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
    if overflow { return nil }
    self.bytes = bytes
  }

  private static func factor(_ unit: String) -> Int? {
    switch unit {
    case "", "b": 1
    case "k", "kib": 1 << 10
    case "m", "mib": 1 << 20
    case "g", "gib": 1 << 30
    case "t", "tib": 1 << 40
    case "kb": 1000
    case "mb": 1_000_000
    case "gb": 1_000_000_000
    case "tb": 1_000_000_000_000
    default: nil
    }
  }

  /// In the largest binary unit that it is a whole number of: nothing is rounded, and ``init(_:)`` reads it again.
  public var exact: String {
    for (power, name) in Self.binaryUnits.enumerated().dropFirst().reversed() {
      let factor = 1 << (10 * power)
      if bytes >= factor, bytes % factor == 0 { return "\(bytes / factor)\(name)" }
    }
    return "\(bytes)"
  }

  /// In the largest binary unit that leaves at least 1, with one digit behind the point where it says something.
  public var description: String {
    var unit = 0
    while unit < 4, bytes >= 1 << (10 * (unit + 1)) { unit += 1 }
    let name = Self.binaryUnits[unit]
    let whole = bytes >> (10 * unit)
    let tenth = ((bytes - (whole << (10 * unit))) * 10) >> (10 * unit)
    return tenth == 0 ? "\(whole)\(name)" : "\(whole).\(tenth)\(name)"
  }
}
