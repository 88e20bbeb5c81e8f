import CShims

/// Makes keys with hashes of one's choice, as an attacker could who reads the table's seed.
///
/// XXH3 maps 8-byte keys to hashes one to one: `key -> (key ^ secret) -> rrmxmx` (xxhash.h, XXH3_rrmxmx), whose every
/// step can be undone. What the seed adds is one constant, found from any key and its hash.
public struct KeyForge {
  private let flip: UInt64

  public init(seed: UInt64) {
    let zero = [UInt8](repeating: 0, count: 8)
    flip = Self.unmix(zero.withUnsafeBytes { shm_hash($0.baseAddress!, 8, seed) })
  }

  /// The 8-byte key with this hash.
  public func key(hash: UInt64) -> [UInt8] {
    let mixed = Self.unmix(hash) ^ flip
    // Read as two words of 32 bits, the first one above.
    let swapped = mixed << 32 | mixed >> 32
    return withUnsafeBytes(of: swapped) { [UInt8]($0) }
  }

  private static let prime: UInt64 = 0x9fb2_1c65_1e98_df25

  private static func unmix(_ hash: UInt64) -> UInt64 {
    var h = hash ^ hash >> 28 ^ hash >> 56
    h = h &* inverse(prime)
    // h ^= (h >> 35) + 8 left the upper 29 bits as they were, and those give back the rest.
    h ^= (h >> 35) &+ 8
    h = h &* inverse(prime)
    // h ^= rotl(h, 49) ^ rotl(h, 24) is its own 63rd inverse: 64 times is nothing.
    for _ in 0..<63 { h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40) }
    return h
  }

  /// Newton's iteration: each step doubles the number of right bits.
  private static func inverse(_ odd: UInt64) -> UInt64 {
    var x = odd
    for _ in 0..<6 { x = x &* (2 &- odd &* x) }
    return x
  }
}
