/// Figures for people: three digits and a unit.
enum Quantity {
  /// `1.5 MiB`.
  static func bytes(_ bytes: Int) -> String {
    var value = Double(bytes)
    for unit in ["B", "KiB", "MiB", "GiB"] {
      if value < 1023.5 { return "\(digits(value)) \(unit)" }
      value /= 1024
    }
    return "\(digits(value)) TiB"
  }

  /// `12,345`: in groups of three.
  static func number(_ number: some BinaryInteger) -> String {
    var digits = String(number)
    var groups: [String] = []
    while digits.utf8.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
  }

  /// `12,345`, and `0.3` where whole numbers would say nothing.
  static func rate(_ rate: Double) -> String { rate < 10 ? digits(rate) : number(Int(rate)) }

  /// `350 ms`, `12 s`, `3 min`.
  static func time(_ nanoseconds: UInt64) -> String {
    switch nanoseconds {
    case ..<1000: "\(nanoseconds) ns"
    case ..<1_000_000: "\(nanoseconds / 1000) µs"
    case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
    case ..<120_000_000_000: "\(nanoseconds / 1_000_000_000) s"
    case ..<7_200_000_000_000: "\(nanoseconds / 60_000_000_000) min"
    default: "\(nanoseconds / 3_600_000_000_000) h"
    }
  }

  /// One decimal below ten, unless it is none.
  private static func digits(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
