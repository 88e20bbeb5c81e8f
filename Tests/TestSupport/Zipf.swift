import Glibc

/// Random numbers of a Zipf distribution: number k, from 0, is drawn in proportion to 1 / (k + 1)^exponent.
public struct Zipf: Sendable {
  private let sums: [Double]
  private var random: SplitMix

  public init(count: Int, exponent: Double, seed: UInt64) {
    var sum = 0.0
    sums = (0..<count).map { index in
      sum += pow(Double(index + 1), -exponent)
      return sum
    }
    random = SplitMix(seed: seed)
  }

  public mutating func next() -> Int {
    let wanted = Double(random.next() >> 11) / Double(1 << 53) * sums[sums.count - 1]
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
