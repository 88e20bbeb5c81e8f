/// A span of time: `500ms`, `30s`, `30` (seconds), `5m`, `1h`, `2d`.
public struct TimeSpan: Sendable, Hashable, CustomStringConvertible {
  public let milliseconds: Int

  public init(milliseconds: Int) { self.milliseconds = milliseconds }

  public init?(_ text: String) {
    guard let (number, unit) = splitQuantity(text), let factor = Self.factor(unit) else { return nil }
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

  public var duration: Duration { .milliseconds(milliseconds) }
  public var description: String { milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms" }
}
