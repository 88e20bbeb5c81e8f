/// Why a client is no longer understood, in the words of Redis 7.0: its connection ends with them.
struct ProtocolError: Equatable {
  /// What the client is told. Text, but for a byte of the client's that is quoted as it is.
  let reply: [UInt8]

  init(_ message: String) { self.init(Array(message.utf8)) }

  private init(_ message: [UInt8]) { reply = Array("ERR Protocol error: ".utf8) + message }

  static let invalidMultibulkLength = ProtocolError("invalid multibulk length")
  static let invalidBulkLength = ProtocolError("invalid bulk length")
  static let tooBigMultibulkCount = ProtocolError("too big mbulk count string")
  static let tooBigBulkCount = ProtocolError("too big bulk count string")
  static let tooBigRequest = ProtocolError("too big request")
  static let tooBigInlineRequest = ProtocolError("too big inline request")
  static let unbalancedQuotes = ProtocolError("unbalanced quotes in request")

  /// Where an argument's length begins with another byte than `$`.
  static func expectedLength(got byte: UInt8) -> ProtocolError {
    ProtocolError(Array("expected '$', got '".utf8) + [byte] + Array("'".utf8))
  }
}
