import CShims

/// The binary form's numbers: see DESIGN.md, which has the layout. All are little-endian.
enum BinaryForm {
  /// Not text from the first byte on, and other than itself once line ends were changed.
  static let magic: [UInt8] = [0x89, 0x53, 0x48, 0x4d, 0x44, 0x0d, 0x0a, 0x1a]
  static let version: UInt32 = 1
  static let prologueBytes = 12
  static let blockHeaderBytes = 24
  static let recordHeaderBytes = 24
  static let headerBytes = 40
  static let endBytes = 16
  /// A block is closed once it has so many bytes.
  static let blockBytes = 256 << 10

  enum BlockKind: UInt32 {
    case header = 1
    case records = 2
    case end = 3
  }

  static let expiryFlag: UInt8 = 1
  static let fingerprintFlag: UInt8 = 2
  static let alignmentShift: UInt8 = 4

  /// XXH3, 64 bits, with a seed.
  static func checksum(_ bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { buffer in unsafe checksum(buffer, seed: seed) }
  }

  @unsafe
  static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    guard let start = bytes.baseAddress else { return seed }
    return unsafe shm_hash(start, bytes.count, seed)
  }

  /// The checksum of all blocks so far, from that of those before and that of one more.
  static func chained(_ checksum: UInt64, _ block: UInt64) -> UInt64 {
    var bytes: [UInt8] = []
    bytes.append(number: block)
    return self.checksum(bytes[...], seed: checksum)
  }
}

extension [UInt8] {
  mutating func append<N: FixedWidthInteger>(number: N) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { bytes in unsafe append(contentsOf: bytes) }
  }

  /// The number at a place that the caller has seen to lie inside.
  func number<N: FixedWidthInteger>(at offset: Int, as _: N.Type = N.self) -> N {
    precondition(offset >= 0 && offset + N.bitWidth / 8 <= count)
    return unsafe withUnsafeBytes { bytes in
      unsafe N(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: N.self))
    }
  }

  mutating func store<N: FixedWidthInteger>(_ number: N, at offset: Int) {
    precondition(offset >= 0 && offset + N.bitWidth / 8 <= count)
    unsafe withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: N.self)
    }
  }
}
