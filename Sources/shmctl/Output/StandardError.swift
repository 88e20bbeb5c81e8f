import Glibc
import ToolSupport

/// Standard error: one line a complaint, whatever bytes a name or a message holds.
enum StandardError {
  static var isTerminal: Bool { isatty(2) == 1 }

  static func write(_ message: String) {
    // Nobody is left to be told if this fails.
    _ = try? Descriptor.writeAll(2, Array("shmctl: \(printable(message))\n".utf8))
  }

  /// The text of an argument or a message, printable: bytes that are no UTF-8 (`RawArgument`) are spelled `\xNN`, too.
  static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let byte = RawArgument.escapedByte(scalar), !(0x20..<0x7f).contains(byte) {
        result += String.escaped(byte)
      } else if let byte = RawArgument.escapedByte(scalar) {
        result.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result.printable
  }
}
