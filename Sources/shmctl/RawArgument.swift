import ArgumentParser

/// An argument as the bytes that the shell gave, also where they are no UTF-8.
///
/// ArgumentParser works on strings, and Swift repairs a string that is no UTF-8: a key would silently become another.
/// So bytes that do not decode are carried through the parser as scalars of plane 16, U+10FF00 + byte, and taken back
/// here. Scalars of that range are carried byte by byte themselves: the way there and back loses nothing.
struct RawArgument: ExpressibleByArgument {
  let bytes: [UInt8]
  /// Whether it is the `-` that stands for standard input: behind `--` it is a dash like any other.
  let isStandardInput: Bool

  init(argument: String) {
    bytes = Self.decode(argument)
    isStandardInput = argument == "-"
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    isStandardInput = false
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// For messages: at most 64 bytes of it.
  var shown: String { String.printableStart(bytes) }
}

extension RawArgument {
  private static let base: UInt32 = 0x10_ff00

  static func escapedByte(_ scalar: Unicode.Scalar) -> UInt8? {
    scalar.value >= base ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }

  /// - Parameter options: whether options may still come: before a `--`.
  static func encode(_ bytes: [UInt8], options: Bool) -> String {
    if !options, bytes == [UInt8(ascii: "-")] { return escape(bytes[...]) }
    if options, looksNegative(bytes) { return escape(bytes[..<1]) + String(decoding: bytes.dropFirst(), as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self),
      !bytes.contains(0xf4) || !text.unicodeScalars.contains(where: { $0.value >= base })
    {
      return text
    }
    // Byte by byte from the first one that is not ASCII: simple, and whole.
    return bytes.reduce(into: "") { result, byte in
      result += byte < 0x80 ? String(UnicodeScalar(byte)) : escape([byte])
    }
  }

  /// A number below zero is a value, and its dash is hidden from the parser. Only `-0` is an option.
  static func looksNegative(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 1, bytes[0] == UInt8(ascii: "-"), bytes != Array("-0".utf8) else { return false }
    return "0123456789.".utf8.contains(bytes[1]) && bytes.dropFirst().allSatisfy("0123456789.eE+-".utf8.contains)
  }

  private static func escape(_ bytes: ArraySlice<UInt8>) -> String {
    var result = ""
    for byte in bytes {
      if let scalar = Unicode.Scalar(base + UInt32(byte)) { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  static func decode(_ text: String) -> [UInt8] {
    // Plane 16 begins with this byte and no other: most arguments are their UTF-8.
    guard text.utf8.contains(0xf4) else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if let byte = escapedByte(scalar) {
        bytes.append(byte)
      } else {
        bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
    return bytes
  }
}
