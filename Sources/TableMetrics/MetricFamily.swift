import ToolSupport

/// One metric of the Prometheus text format 0.0.4: what it is, and its samples.
public struct MetricFamily: Sendable {
  public enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  /// A label's name and its value, of whatever characters.
  public typealias Label = (name: String, value: String)

  public let name: String
  public let help: String
  public let kind: Kind
  private var lines: [String] = []

  public init(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    self.help = help
    self.kind = kind
  }

  /// Without samples a family is left out of the text.
  public var isEmpty: Bool { lines.isEmpty }

  public mutating func add(_ labels: [Label], _ value: some BinaryInteger) { add(labels, text: "\(value)") }

  /// A span of time in the base unit.
  public mutating func add(_ labels: [Label], nanoseconds: UInt64) { add(labels, text: Self.seconds(nanoseconds)) }

  /// A histogram's buckets, from the smallest on, each with what it counts alone. The last one has no bound.
  ///
  /// There is no `_sum`: nobody adds up what was waited.
  public mutating func add(_ labels: [Label], buckets: [(belowNanoseconds: UInt64?, count: UInt64)]) {
    var total: UInt64 = 0
    for bucket in buckets {
      total &+= bucket.count
      let bound = bucket.belowNanoseconds.map(Self.seconds) ?? "+Inf"
      add(labels + [("le", bound)], suffix: "_bucket", text: "\(total)")
    }
    add(labels, suffix: "_count", text: "\(total)")
  }

  private mutating func add(_ labels: [Label], suffix: String = "", text: String) {
    let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    lines.append(name + suffix + (pairs.isEmpty ? "" : "{\(pairs)}") + " " + text)
  }

  /// With the lines about it.
  var text: String {
    let help = help.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
      .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    return "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" + lines.joined(separator: "\n") + "\n"
  }

  /// Backslashes, quotes and line ends, as the format wants it; other control characters are spelled `\xNN`, since a
  /// process's name may hold any byte and some readers of the format take them for line ends.
  private static func escaped(_ value: String) -> String {
    var result = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default:
        result += String(scalar).printable.split(separator: "\\", omittingEmptySubsequences: false)
          .joined(separator: "\\\\")
      }
    }
    return result
  }

  /// A span of time in the base unit, as labels and samples say it: exact, without trailing zeros.
  public static func seconds(_ nanoseconds: UInt64) -> String {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    if rest == 0 { return "\(whole)" }
    var digits = String(rest)
    digits = String(repeating: "0", count: 9 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
