import SharedMemory

/// A connection to the socket at which shmd takes the commands of Redis' clients, for one call of one thread.
///
/// What comes is looked at as what a stranger might send: an answer that is none ends the connection, and however long it is, no more
/// than ``longestLine`` and a chunk of it are kept.
struct UpstreamConnection: ~Copyable {
  /// What shmd answers to the few commands that are sent. None of them is answered by a value.
  enum Answer: Equatable {
    case simple(String)
    case error(String)
    case integer(Int64)
    /// EXEC found a watched key changed.
    case none
    /// So many answers follow.
    case list(Int)
  }

  /// Why there is no answer.
  enum Loss: Error {
    case system(SystemError)
    case ended
    case malformed
  }

  /// An error of shmd's tells a table's name, and what the other store said.
  private static var longestLine: Int { 8192 }
  private static var chunk: Int { 4096 }

  private let socket: LocalSocket
  private var received: [UInt8] = []
  /// Of `received`, dealt with.
  private var used = 0

  /// - Parameter instant: of the monotonic clock.
  init(to path: String, until instant: UInt64) throws(SystemError) {
    socket = try LocalSocket(connectingTo: path, until: instant)
  }

  var peerUser: UInt32? { socket.peerUser }

  /// Sends commands. Of what was not sent to its last byte shmd carries out nothing.
  func send(_ commands: [[[UInt8]]], until instant: UInt64) throws(SystemError) {
    var bytes: [UInt8] = []
    for words in commands {
      bytes += Array("*\(words.count)\r\n".utf8)
      for word in words { bytes += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
    }
    try socket.send(bytes, until: instant)
  }

  /// The next answer.
  mutating func answer(until instant: UInt64) throws(Loss) -> Answer {
    let line = try line(until: instant)
    let text = String(decoding: line.dropFirst(), as: UTF8.self)
    switch line.first {
    case UInt8(ascii: "+"): return .simple(text)
    case UInt8(ascii: "-"): return .error(text)
    case UInt8(ascii: ":"): if let number = Int64(text) { return .integer(number) }
    case UInt8(ascii: "*"):
      if text == "-1" { return .none }
      if let count = Int(text), count >= 0 { return .list(count) }
    default: break
    }
    throw .malformed
  }

  /// What comes up to the next CR LF, without it.
  private mutating func line(until instant: UInt64) throws(Loss) -> ArraySlice<UInt8> {
    var looked = used
    while true {
      if let end = received[looked...].firstIndex(of: 10) {
        guard end > used, received[end - 1] == 13 else { throw .malformed }
        defer { used = end + 1 }
        return received[used..<end - 1]
      }
      guard received.count - used <= Self.longestLine else { throw .malformed }
      received.removeFirst(used)
      (used, looked) = (0, received.count)
      let count: Int
      do throws(SystemError) {
        count = try socket.receive(into: &received, most: Self.chunk, until: instant)
      } catch {
        throw .system(error)
      }
      if count == 0 { throw .ended }
    }
  }
}

extension UpstreamConnection.Loss: CustomStringConvertible {
  var description: String {
    switch self {
    case .system(let error): "\(error)"
    case .ended: "it ended the connection"
    case .malformed: "what it answered is no answer of shmd's"
    }
  }
}
