import CPeers

/// Keys of 16 bytes, and the order in which they are asked for. The same for every contestant and every run.
final class Workload: @unchecked Sendable {
  // Sendable because nothing changes after init.
  static let keyBytes = Int(PEER_KEY_BYTES)
  /// Lookups in one turn of a fast contestant: so few that most turns end before the scheduler interrupts them.
  static let roundLookups = 20_000

  enum Order {
    case uniform
    /// One lookup in ten asks for a key that is not there.
    case tenthMissing
    /// Zipf's distribution with exponent 0.99, as YCSB has it (Gray et al. 1994).
    case zipf
  }

  let keyCount: Int
  let value: [UInt8]
  /// All keys, in the order in which they are loaded.
  let keys: UnsafeMutableRawBufferPointer
  /// Keys to ask for.
  let lookups: UnsafeMutableRawBufferPointer
  private let lookupCount: Int
  /// By lookup: how many of those before it ask for a key that is there. Counted before anything is measured.
  private let hitsBefore: [Int]

  init(keyCount: Int, valueBytes: Int = 100, order: Order = .uniform) {
    self.keyCount = keyCount
    value = [UInt8](repeating: 0x5a, count: valueBytes)
    keys = .allocate(byteCount: keyCount * Self.keyBytes, alignment: 64)
    lookupCount = max(keyCount, 200_000)
    lookups = .allocate(byteCount: lookupCount * Self.keyBytes, alignment: 64)
    var generator = SplitMix(state: 42)
    for index in 0..<keyCount { keys.storeKey((generator.next(), generator.next()), at: index) }
    var shuffled = Array(0..<keyCount)
    shuffled.shuffle(using: &generator)
    let zipf = Zipf(count: keyCount, exponent: 0.99)
    var hitsBefore = [0]
    hitsBefore.reserveCapacity(lookupCount + 1)
    for index in 0..<lookupCount {
      let choice: Int
      switch order {
      case .uniform, .tenthMissing: choice = shuffled[index % keyCount]
      case .zipf: choice = shuffled[zipf.next(&generator)]
      }
      let isMissing = order == .tenthMissing && generator.next() % 10 == 0
      lookups.storeKey(isMissing ? (generator.next(), generator.next()) : keys.key(at: choice), at: index)
      hitsBefore.append(hitsBefore[index] + (isMissing ? 0 : 1))
    }
    self.hitsBefore = hitsBefore
  }

  deinit {
    keys.deallocate()
    lookups.deallocate()
  }

  /// Where the keys of a turn begin, and the bytes that looking all of them up must find. The lookups are divided into
  /// parts, and turns take them in order; so a turn hardly ever asks for a key that one shortly before it asked for,
  /// unless the keys are few.
  func round(_ number: Int, _ count: Int = roundLookups) -> (keys: UnsafeMutableRawPointer, bytes: Int) {
    let first = number % (lookupCount / count) * count
    let hits = hitsBefore[first + count] - hitsBefore[first]
    return (lookups.baseAddress! + first * Self.keyBytes, hits * value.count)
  }

  /// A place for values.
  nonisolated(unsafe) static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
}

extension UnsafeMutableRawBufferPointer {
  typealias Key = (UInt64, UInt64)

  func key(at index: Int) -> Key { load(fromByteOffset: index * Workload.keyBytes, as: Key.self) }

  func storeKey(_ key: Key, at index: Int) {
    storeBytes(of: key, toByteOffset: index * Workload.keyBytes, as: Key.self)
  }
}

/// A small generator with a seed, so that every run asks for the same keys.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
