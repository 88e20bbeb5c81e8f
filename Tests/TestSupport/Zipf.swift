import Glibc

/// Random numbers of a Zipf distribution: number k, from 0, is drawn in proportion to 1 / (k + 1)^exponent.
public struct Zipf: Sendable {
  private let sums: [Double]
  private var state: UInt64

  public init(count: Int, exponent: Double, seed: UInt64) {
    var sum = 0.0
    sums = (0..<count).map { index in
      sum += pow(Double(index + 1), -exponent)
      return sum
    }
    state = seed
  }

  public mutating func next() -> Int {
    // splitmix64
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    let wanted = Double((z ^ (z >> 31)) >> 11) / Double(1 << 53) * sums[sums.count - 1]
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
