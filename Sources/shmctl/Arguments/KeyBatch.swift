/// Keys that came together, one behind the other in one array: a hundred thousand of them cost no allocation each.
struct KeyBatch: RandomAccessCollection {
  private let bytes: [UInt8]
  /// Where each ends; a byte that is no key's stands between two.
  private let ends: [Int]

  var startIndex: Int { 0 }
  var endIndex: Int { ends.count }

  subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1] + 1)..<ends[index]] }

  /// Those behind each of which a terminator stands.
  init(_ bytes: [UInt8], endedBy terminator: UInt8) {
    self.bytes = bytes
    ends = Self.places(of: terminator, in: bytes)
  }

  /// Those between which separators stand, and none behind the last.
  init(_ bytes: [UInt8], between separator: UInt8) {
    self.bytes = bytes
    ends = Self.places(of: separator, in: bytes) + [bytes.count]
  }

  /// Just one, whatever bytes it has.
  init(one key: [UInt8]) {
    bytes = key
    ends = [key.count]
  }

  /// For who changes them, or keeps them.
  var arrays: [[UInt8]] { map { [UInt8]($0) } }

  private static func places(of terminator: UInt8, in bytes: [UInt8]) -> [Int] {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var places: [Int] = []
      for index in bytes.indices where unsafe bytes[index] == terminator { places.append(index) }
      return places
    }
  }
}
