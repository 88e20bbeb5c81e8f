import ToolSupport

/// Figures for people: three digits and a unit.
enum Quantity {
  /// `1.5 MiB`.
  static func bytes(_ bytes: Int) -> String {
    var value = Double(bytes)
    var unit = 0
    while value >= 1023.5, unit < ByteCount.binaryUnits.count - 1 {
      value /= 1024
      unit += 1
    }
    return "\(digits(value)) \(ByteCount.binaryUnits[unit])"
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

  /// One decimal below ten, unless it is none.
  private static func digits(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
