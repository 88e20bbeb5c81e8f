/// A field of a ``SharedStruct`` not all of whose patterns of bits are values: which ones are. To load others would be
/// undefined behaviour, whoever stored them.
struct FieldValidator: Sendable {
  /// In bytes, from the struct's start.
  let offset: Int
  let values: Values

  enum Values: Sendable {
    /// One byte, less than this.
    case below(UInt8)
    /// So many bytes, one of these patterns.
    case among([[UInt8]])
    /// Four bytes, a Unicode scalar value.
    case unicodeScalar
  }

  init(offset: Int, _ values: Values) {
    self.offset = offset
    self.values = values
  }

  /// - Parameter patterns: all that are values, of one length.
  init(offset: Int, patterns: [[UInt8]]) {
    let isCounted = patterns.count <= 255 && patterns.enumerated().allSatisfy { $1 == [UInt8(truncatingIfNeeded: $0)] }
    self.init(offset: offset, isCounted ? .below(UInt8(patterns.count)) : .among(patterns))
  }

  /// - Parameter bytes: all of a struct.
  func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch values {
    case .below(let end): unsafe bytes[offset] < end
    case .among(let patterns): patterns.contains { unsafe bytes[offset..<offset + $0.count].elementsEqual($0) }
    case .unicodeScalar:
      unsafe Unicode.Scalar(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) != nil
    }
  }
}
