import SharedTable

/// What a soak's table holds: some thousand keys, whose values are long or short as the drift has it, and say whose they are.
enum SoakContents {
  static let keyCount = 4000
  /// The drift goes from 0 up to this, and back: values of 100 bytes to 6 KB.
  static let largest = 1000.0

  static func key(_ number: Int) -> String { "soak \(number)" }

  /// - Parameter spread: 0 to 99: values of one moment differ by a third.
  static func value(_ number: Int, salt: UInt64, drift: UInt64, spread: Int) -> [UInt8] {
    let growth = Double(drift) / largest
    var size = 100.0
    for _ in 0..<6 { size *= 1 + growth }
    let count = Int(size * (0.8 + Double(spread) / 250))
    var value = [UInt8](repeating: UInt8(truncatingIfNeeded: salt), count: count)
    for byte in 0..<8 { value[byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
    return value
  }

  static func check(_ number: Int, _ value: UnsafeRawBufferPointer) throws {
    guard value.count >= 80, value.prefix(8).reversed().reduce(0, { $0 << 8 | Int($1) }) == number else {
      throw Broken("\(key(number)) holds \(value.count) bytes that are not its own (G1)")
    }
    if let other = value.dropFirst(8).first(where: { $0 != value[8] }) {
      throw Broken("\(key(number)) holds a value that is not whole: \(other) beside \(value[8]) (G1)")
    }
  }
}
