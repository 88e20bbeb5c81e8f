import ArgumentParser

/// A number of bytes: `1048576`, `64MiB`, `64M` (the same), `64MB` (a million each).
struct ByteCount: ExpressibleByArgument, CustomStringConvertible {
  let bytes: Int

  init(bytes: Int) { self.bytes = bytes }

  init?(argument: String) {
    guard let (number, unit) = splitQuantity(argument), let factor = Self.factor(unit.lowercased()) else { return nil }
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

  /// In the largest binary unit that leaves at least 1, with one digit behind the point where it says something.
  var description: String {
    var unit = 0
    while unit < 4, bytes >= 1 << (10 * (unit + 1)) { unit += 1 }
    let name = ["B", "KiB", "MiB", "GiB", "TiB"][unit]
    let whole = bytes >> (10 * unit)
    let tenth = ((bytes - (whole << (10 * unit))) * 10) >> (10 * unit)
    return tenth == 0 ? "\(whole)\(name)" : "\(whole).\(tenth)\(name)"
  }
}

/// A span of time: `500ms`, `30s`, `30` (seconds), `5m`, `1h`, `2d`.
struct TimeSpan: ExpressibleByArgument, CustomStringConvertible {
  let milliseconds: Int

  init(milliseconds: Int) { self.milliseconds = milliseconds }

  init?(argument: String) {
    guard let (number, unit) = splitQuantity(argument), let factor = Self.factor(unit) else { return nil }
    let (milliseconds, overflow) = number.multipliedReportingOverflow(by: factor)
    if overflow { return nil }
    self.milliseconds = milliseconds
  }

  private static func factor(_ unit: Substring) -> Int? {
    switch unit {
    case "ms": 1
    case "", "s": 1000
    case "m", "min": 60_000
    case "h": 3_600_000
    case "d": 86_400_000
    default: nil
    }
  }

  var duration: Duration { .milliseconds(milliseconds) }
  var description: String { milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms" }
}

/// Digits and what follows them; nil without digits.
private func splitQuantity(_ text: String) -> (Int, Substring)? {
  let digits = text.prefix { ("0"..."9").contains($0) }
  guard let number = Int(digits) else { return nil }
  return (number, text[digits.endIndex...])
}
