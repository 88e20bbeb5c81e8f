import SharedTable

/// Why a command is answered by an error: the words of Redis 7.0, where it knows the case. An error that one command alone has is
/// worded there.
struct CommandError: Error, Equatable {
  /// Text, but for what a client sent that is none.
  let bytes: [UInt8]

  init(_ message: String) { bytes = Array(message.utf8) }
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Words around what a client sent, which is told as it came.
  init(_ before: String, quoting sent: Bytes, most: Int = .max, _ after: String = "") {
    bytes = before.utf8 + sent.quoted(most: most) + after.utf8
  }

  static let wrongType = CommandError("WRONGTYPE Operation against a key holding the wrong kind of value")
  static let syntax = CommandError("ERR syntax error")
  static let notAnInteger = CommandError("ERR value is not an integer or out of range")
  static let notAFloat = CommandError("ERR value is not a valid float")
  static let overflow = CommandError("ERR increment or decrement would overflow")
  static let noSuchKey = CommandError("ERR no such key")
  static let tooLong = CommandError("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
  static let replyTooLarge = CommandError("ERR the reply would be larger than 1 GiB; ask for less at a time")
  static let tooMuchHeld = CommandError(
    "ERR the server holds too much of what its clients have sent, and most of it is this client's; send less at a time")
  static let longName = CommandError(
    "ERR names of clients and libraries have at most \(ClientRecord.longestName) bytes")
  static let outOfMemory = CommandError("OOM command not allowed when used memory > 'maxmemory'.")

  static func arity(_ command: String) -> CommandError {
    CommandError("ERR wrong number of arguments for '\(command)' command")
  }

  static func invalidExpiry(_ command: String) -> CommandError {
    CommandError("ERR invalid expire time in '\(command)' command")
  }

  /// A table's error. What Redis has no word for is said in the table's own.
  init(_ error: TableError) {
    switch error.code {
    case .full: self = .outOfMemory
    case .tooLarge: self.init("ERR \(error.message)")
    case .timedOut, .busy: self.init("BUSY \(error)")
    case .notPermitted: self.init("NOPERM \(error)")
    default: self.init("ERR \(error)")
    }
  }
}
