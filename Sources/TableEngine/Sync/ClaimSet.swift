import CShims

/// What a barrier claims or writes, as 256 bits of either kind: equal keys share a bit, others seldom do.
///
/// A claimed key stands for itself and for all that begin with it and a slash. So, as with the intention locks of Gray
/// et al., "Granularity of Locks and Degrees of Consistency in a Shared Data Base" (1976), a key may be meant as a whole,
/// with all that lies below, or as a step on the path to what is meant: `a` and `a/b` for `a/b/c`. Two masks meet where one
/// means as a whole what the other means in either way. Bits that two keys share by chance make one wait for nothing, and do
/// no other harm.
struct ClaimMask: Equatable {
  static let bitCount = 256
  static let wordCount = bitCount / 64

  var whole = SIMD4<UInt64>(repeating: 0)
  var path = SIMD4<UInt64>(repeating: 0)

  /// Meets every claim.
  static let table = ClaimMask(whole: SIMD4(repeating: .max))

  init(whole: SIMD4<UInt64> = SIMD4(repeating: 0), path: SIMD4<UInt64> = SIMD4(repeating: 0)) {
    self.whole = whole
    self.path = path
  }

  /// Of keys that are claimed.
  init(claiming keys: [[UInt8]], seed: UInt64) {
    for key in keys {
      unsafe key.withUnsafeBytes { key in
        unsafe Self.set(&whole, shm_hash(key.baseAddress!, key.count, seed))
        unsafe insertPath(to: key, seed: seed)
      }
    }
  }

  /// Of one key that is written, and nothing below it.
  init(writing key: UnsafeRawBufferPointer, seed: UInt64) {
    unsafe Self.set(&path, shm_hash(key.baseAddress!, key.count, seed))
    unsafe insertPath(to: key, seed: seed)
  }

  private mutating func insertPath(to key: UnsafeRawBufferPointer, seed: UInt64) {
    for index in 1..<max(1, key.count) where unsafe key[index] == UInt8(ascii: "/") {
      unsafe Self.set(&path, shm_hash(key.baseAddress!, index, seed))
    }
  }

  private static func set(_ bits: inout SIMD4<UInt64>, _ hash: UInt64) {
    let bit = Int(truncatingIfNeeded: hash) & (bitCount - 1)
    bits[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  func meets(_ other: ClaimMask) -> Bool {
    (whole & (other.whole | other.path) | path & other.whole) != SIMD4(repeating: 0)
  }
}

extension [UInt8] {
  /// Is a key this one, or below it?
  func claims(_ key: UnsafeRawBufferPointer) -> Bool {
    guard key.count >= count, unsafe key.starts(with: self) else { return false }
    return unsafe key.count == count || key[count] == UInt8(ascii: "/")
  }
}
