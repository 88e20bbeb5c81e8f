import CShims
import Testing

/// Keys are compared by words that overlap, so each length has its own way.
@Suite struct KeyEqualityTests {
  @Test func keysAreEqualIfEachByteIs() {
    for length in 0...40 {
      let key = (0..<length).map { UInt8($0 + 1) }
      #expect(unsafe shm_equal(key, Array(key), length), "\(length) bytes")
      for place in 0..<length {
        var other = key
        other[place] ^= 0x80
        #expect(unsafe !shm_equal(key, other, length), "byte \(place) of \(length)")
      }
    }
  }
}
