import SharedTable

/// A failure that is no table's own: what happened and what to do, in one line.
struct Complaint: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ status: ExitStatus, table: String, _ message: String) {
    self.init(status, "table '\(table)': \(message)")
  }

  static func usage(_ message: String) -> Complaint { Complaint(.usage, message) }
}

/// Standard error: one line a complaint, whatever bytes a name or a message holds.
enum StandardError {
  static func write(_ message: String) {
    // Nobody is left to be told if this fails.
    _ = try? Descriptor.writeAll(2, Array("shmctl: \(printable(message))\n".utf8))
  }

  /// The text with control characters and bytes that are no UTF-8 spelled `\xNN`: names come from strangers, and a
  /// terminal obeys escape sequences.
  static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let byte = RawArgument.escapedByte(scalar) {
        result += byte >= 0x20 && byte < 0x7f ? String(UnicodeScalar(byte)) : hex(UInt32(byte))
      } else if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
        result += hex(scalar.value)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func hex(_ value: UInt32) -> String { (value < 16 ? "\\x0" : "\\x") + String(value, radix: 16) }
}
