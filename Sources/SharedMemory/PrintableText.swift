extension String {
  /// The text with control characters (C0, DEL, C1) spelled `\xNN`, so that it is one line and a terminal obeys nothing in
  /// it: names, keys and file contents come from strangers.
  package var printable: String {
    var result = ""
    for scalar in unicodeScalars {
      if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
        result += Self.escaped(UInt8(scalar.value))
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `\xNN`, for a byte that cannot be shown.
  package static func escaped(_ byte: UInt8) -> String { (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
}

extension String {
  /// Bytes as printable text: what is no UTF-8 is spelled `\xNN` byte by byte, ASCII aside.
  package static func printable(_ bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text.printable }
    return bytes.reduce(into: "") { result, byte in
      result += (0x20..<0x7f).contains(byte) ? String(UnicodeScalar(byte)) : escaped(byte)
    }
  }

  /// Bytes as printable text, of more than 64 the first 64 and `…`, for messages. Of those 64, what is no UTF-8 becomes U+FFFD: the cut may lie
  /// within a character.
  package static func printableStart(_ bytes: some Collection<UInt8>) -> String {
    bytes.count > 64 ? String(decoding: bytes.prefix(64), as: UTF8.self).printable + "…" : printable(bytes)
  }

  /// Bytes as printable text for between quotes: with quotes and backslashes escaped, too, the text tells which bytes it stands for.
  package static func quotable(_ bytes: some Collection<UInt8>) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return bytes.reduce(into: "") { result, byte in
        result += byte < 0x80 ? quotable(UnicodeScalar(byte)) : escaped(byte)
      }
    }
    return text.unicodeScalars.reduce(into: "") { $0 += quotable($1) }
  }

  private static func quotable(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\t": "\\t"
    case "\r": "\\r"
    // Both bytes of its UTF-8: by one it would read as another text, which is no UTF-8.
    case "\u{80}"..<"\u{a0}": String(scalar).utf8.reduce(into: "") { $0 += escaped($1) }
    default: String(scalar).printable
    }
  }
}

extension String {
  /// The beginning in quotes: what a file holds may be long, and a complaint is one line.
  package var quotedExcerpt: String {
    let most = 64
    return count > most ? "'\(prefix(most))…'" : "'\(self)'"
  }
}
