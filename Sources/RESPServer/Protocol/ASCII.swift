enum ASCII {
  static let zero = UInt8(ascii: "0")
  static let minus = UInt8(ascii: "-")
  static let carriageReturn = UInt8(ascii: "\r")
  static let lineFeed = UInt8(ascii: "\n")
  static let space = UInt8(ascii: " ")

  static func upper(_ byte: UInt8) -> UInt8 { byte &- 97 < 26 ? byte & 0xDF : byte }
  static func lower(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }
}
