extension String {
  /// The text with control characters (C0, DEL, C1) spelled `\xNN`, so that it is one line and a terminal obeys nothing in
  /// it: names, keys and file contents come from strangers.
  public var printable: String {
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
  public static func escaped(_ byte: UInt8) -> String { (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
}
