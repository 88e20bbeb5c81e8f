/// A dump's bytes as they come, counted. Holds a piece of fixed size, and a line or block as long as the caller allows.
struct DumpInput {
  private let source: DumpFill
  private var piece: [UInt8]
  private var position = 0
  private var filled = 0
  private var isAtEnd = false
  /// Bytes handed out.
  private(set) var offset: UInt64 = 0

  static let pieceBytes = 256 << 10

  init(_ source: @escaping DumpFill) {
    self.source = source
    piece = [UInt8](repeating: 0, count: Self.pieceBytes)
  }

  private mutating func fill() throws -> Bool {
    if position < filled { return true }
    if isAtEnd { return false }
    filled = try source(&piece)
    position = 0
    isAtEnd = filled == 0
    return !isAtEnd
  }

  /// The next byte, not taken; nil at the end.
  mutating func peek() throws -> UInt8? { try fill() ? piece[position] : nil }

  /// Appends up to `count` bytes. Memory grows with what comes, not with what a damaged length says.
  /// - Returns: how many there were.
  mutating func read(_ count: Int, into bytes: inout [UInt8]) throws -> Int {
    var left = count
    while left > 0, try fill() {
      let now = min(left, filled - position)
      bytes.append(contentsOf: piece[position..<position + now])
      position += now
      offset += UInt64(now)
      left -= now
    }
    return count - left
  }

  enum Line {
    case whole([UInt8])
    /// The input ended before a line's end.
    case cut
    case tooLong
    case none
  }

  mutating func line(limit: Int) throws -> Line {
    var line: [UInt8] = []
    var isFirst = true
    while try fill() {
      isFirst = false
      let rest = piece[position..<filled]
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      line.append(contentsOf: rest[..<(end ?? filled)])
      let taken = (end.map { $0 + 1 } ?? filled) - position
      position += taken
      offset += UInt64(taken)
      if line.count > limit { return .tooLong }
      if end != nil { return .whole(line) }
    }
    return isFirst ? .none : .cut
  }
}
