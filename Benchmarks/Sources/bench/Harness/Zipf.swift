import Glibc

/// Ranks 0..<count, the lower the more frequent: Gray et al., "Quickly Generating Billion-Record Synthetic Databases",
/// SIGMOD 1994.
struct Zipf {
  private let count: Int
  private let exponent: Double
  private let zeta: Double
  private let eta: Double

  init(count: Int, exponent: Double) {
    self.count = count
    self.exponent = exponent
    zeta = (1...count).reduce(0) { $0 + pow(Double($1), -exponent) }
    let zetaOfTwo = 1 + pow(2, -exponent)
    eta = (1 - pow(2 / Double(count), 1 - exponent)) / (1 - zetaOfTwo / zeta)
  }

  func next(_ generator: inout SplitMix) -> Int {
    let u = Double(generator.next() >> 11) / Double(1 << 53)
    let scaled = u * zeta
    if scaled < 1 { return 0 }
    if scaled < 1 + pow(0.5, exponent) { return 1 }
    return min(count - 1, Int(Double(count) * pow(eta * u - eta + 1, 1 / (1 - exponent))))
  }
}
