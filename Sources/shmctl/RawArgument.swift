import ArgumentParser

/// An argument as the bytes that the shell gave, also where they are no UTF-8.
///
/// ArgumentParser works on strings, and Swift repairs a string that is no UTF-8: a key would silently become another.
/// So bytes that do not decode are carried through the parser as scalars of plane 16, U+10FF00 + byte, and taken back
/// here. Scalars of that range are carried byte by byte themselves: the way there and back loses nothing.
struct RawArgument: ExpressibleByArgument {
  let bytes: [UInt8]

  init(argument: String) { bytes = Self.decode(argument) }

  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// For messages: at most 64 bytes of it.
  var shown: String { StandardError.printable(String(decoding: bytes.prefix(64), as: UTF8.self)) }
  var isDash: Bool { bytes == [UInt8(ascii: "-")] }
}

extension RawArgument {
  private static let base: UInt32 = 0x10_ff00

  static func escapedByte(_ scalar: Unicode.Scalar) -> UInt8? {
    scalar.value >= base ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }

  /// - Parameter options: whether options may still come: before a `--`.
  static func encode(_ bytes: [UInt8], options: Bool) -> String {
    if options, looksNegative(bytes) { return escape(bytes[..<1]) + String(decoding: bytes.dropFirst(), as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value >= base })
    {
      return text
    }
    // Byte by byte from the first one that is not ASCII: simple, and whole.
    return bytes.reduce(into: "") { result, byte in
      result += byte < 0x80 ? String(UnicodeScalar(byte)) : escape([byte])
    }
  }

  /// A number below zero is a value, and its dash is hidden from the parser. Only `-0` is an option.
  private static func looksNegative(_ bytes: [UInt8]) -> Bool {
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

  private static func decode(_ text: String) -> [UInt8] {
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

  /// The process's arguments without its name, ready for the parser.
  static var all: [String] {
    var options = true
    var result: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
      var bytes: [UInt8] = []
      var next = unsafe pointer
      while unsafe next.pointee != 0 {
        bytes.append(UInt8(bitPattern: unsafe next.pointee))
        unsafe next += 1
      }
      if bytes == Array("--".utf8) { options = false }
      result.append(encode(bytes, options: options))
    }
    return result
  }
}

/// An argument in decimal, possibly negative.
struct DecimalArgument: ExpressibleByArgument {
  let value: Int

  init?(argument: String) {
    guard let value = Int(RawArgument(argument: argument).text) else { return nil }
    self.value = value
  }
}
