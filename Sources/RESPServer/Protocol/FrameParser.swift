/// Finds requests in what a client sends: RESP arrays of bulk strings, and inline commands.
///
/// It is told the bytes from the start of a frame each time, more of them from time to time, and goes on where it
/// stopped: a frame that comes in many pieces is looked at once. It keeps the ranges of arguments that have arrived,
/// 8 bytes for at least 5 that were sent, and never makes room for what is only announced.
struct FrameParser: ~Copyable {
  enum Step {
    /// A request of ``arguments``, or of ``inline``. The next frame begins ``consumed`` bytes further.
    case frame
    /// A frame without a command, which Redis passes over: `*0`, or an empty line.
    case nothing
    case needsMore
    /// The client cannot be understood any more.
    case failed(ProtocolError)
  }

  /// What a client may send.
  struct Limits: Sendable, Equatable {
    /// Bytes of one argument.
    var argument = 512 << 20
    /// Arguments of one command.
    var arguments = 1 << 20
    /// Bytes of one command.
    var frame = 1 << 30
    /// Bytes of a line: of an inline command, or of a length.
    static let line = 64 << 10
  }

  private(set) var arguments = ArgumentRanges()
  /// Of an inline command; nil for one in place.
  private(set) var inline: RetainedRequest?
  private(set) var consumed = 0

  private let limits: Limits
  /// The frame is one without a command, or none: it stays so however often it is looked at.
  private var verdict: Step?
  /// Arguments that are still to come; nil at the start of a frame.
  private var outstanding: Int?
  /// Of the argument whose bytes are awaited.
  private var length: Int?

  init(_ limits: Limits = Limits()) { self.limits = limits }

  /// The frame was dealt with.
  mutating func reset() {
    arguments.removeAll()
    if inline != nil { inline = nil }
    if verdict != nil { verdict = nil }
    consumed = 0
    outstanding = nil
    length = nil
  }

  /// Whether a request of ``arguments`` follows: what ``step(_:)`` tells, without its cases.
  @inline(__always)
  mutating func findsRequest(_ bytes: Bytes) -> Bool {
    guard !bytes.isEmpty else { return false }
    if isUntouched, readAtOnce(bytes) { return true }
    guard case .frame = stepFurther(bytes) else { return false }
    return inline == nil
  }

  /// A frame that was found is found again until ``reset()``.
  /// - Parameter bytes: from the start of the frame, at least as many as before.
  mutating func step(_ bytes: Bytes) -> Step {
    guard !bytes.isEmpty else { return .needsMore }
    return isUntouched && readAtOnce(bytes) ? .frame : stepFurther(bytes)
  }

  /// Nothing of the frame has been looked at.
  private var isUntouched: Bool { outstanding == nil && inline == nil && verdict == nil }

  /// As ``step(_:)``, for a frame that cannot be read at once.
  private mutating func stepFurther(_ bytes: Bytes) -> Step {
    if inline != nil { return .frame }
    if let verdict { return verdict }
    let step = look(at: bytes)
    switch step {
    case .nothing, .failed: verdict = step
    case .frame, .needsMore: break
    }
    return step
  }

  /// Reads a frame of the usual kind that has arrived whole: nearly all are. What is rare is left to ``look(at:)``: errors, what is still
  /// to come, numbers of more than nine digits, and more arguments than there is room for.
  /// - Returns: false if it is left, and nothing has happened.
  private mutating func readAtOnce(_ bytes: Bytes) -> Bool {
    guard bytes[0] == UInt8(ascii: "*") else { return false }
    var end = 0
    let count = Self.lineNumber(bytes, &end)
    guard count > 0, count <= limits.arguments else { return false }
    // Behind the last argument there are two bytes, which are none of the frame's.
    let most = min(bytes.count, limits.frame &+ 2)
    let longest = UInt(truncatingIfNeeded: limits.argument)
    guard let ranges = unsafe arguments.room(for: count) else { return false }
    for index in 0..<count {
      guard end < most, bytes[end] == UInt8(ascii: "$") else { return false }
      // Of nine digits at most: no sum overflows. What is no number is too long.
      let length = Self.lineNumber(bytes, &end)
      guard UInt(bitPattern: length) <= longest, end &+ length &+ 2 <= most else { return false }
      unsafe ranges[index] = ArgumentRanges.ByteRange(
        start: UInt32(truncatingIfNeeded: end), count: UInt32(truncatingIfNeeded: length))
      end &+= length &+ 2
    }
    arguments.hasFilled(count)
    consumed = end
    outstanding = 0
    return true
  }

  /// The number that the line at `place` tells behind its first byte; moves `place` behind the line.
  /// - Returns: -1 if it is left to ``look(at:)``.
  @inline(__always)
  private static func lineNumber(_ bytes: Bytes, _ place: inout Int) -> Int {
    if bytes.count &- place >= 5, let base = unsafe bytes.raw.baseAddress {
      // One or two digits and the end of the line, as they lie in a word: of nearly all frames, commands and keys, and of most values.
      let word = unsafe UInt32(littleEndian: (base + place).loadUnaligned(fromByteOffset: 1, as: UInt32.self))
      let lineEnd: UInt32 = 0x0A0D
      let first = word & 0xFF &- 0x30
      let second = word >> 8 & 0xFF &- 0x30
      if word >> 8 & 0xFFFF == lineEnd, first <= 9 {
        place &+= 4
        return Int(first)
      }
      if word >> 16 == lineEnd, first &- 1 <= 8, second <= 9 {
        place &+= 5
        return Int(first &* 10 &+ second)
      }
    }
    place &+= 1
    return shortNumber(bytes, &place)
  }

  /// A number of at most nine digits with the end of its line; moves `place` behind that.
  /// - Returns: -1 if it is none, and nothing has moved.
  @inline(__always)
  private static func shortNumber(_ bytes: Bytes, _ place: inout Int) -> Int {
    // Behind the digits there are two bytes.
    let most = min(bytes.count &- place &- 2, 9)
    guard most > 0, let base = unsafe bytes.raw.baseAddress else { return -1 }
    let text = unsafe base.assumingMemoryBound(to: UInt8.self) + place
    var number = unsafe Int(text[0] &- ASCII.zero)
    guard number <= 9 else { return -1 }
    var digits = 1
    // No number begins with a zero but zero.
    while digits < most, number != 0 {
      let digit = unsafe text[digits] &- ASCII.zero
      if digit > 9 { break }
      number = number &* 10 &+ Int(digit)
      digits &+= 1
    }
    guard unsafe text[digits] == ASCII.carriageReturn else { return -1 }
    place &+= digits &+ 2
    return number
  }

  private mutating func look(at bytes: Bytes) -> Step {
    if outstanding == nil {
      guard bytes[0] == UInt8(ascii: "*") else { return readInline(bytes) }
      consumed = 1
      switch readNumber(bytes, .tooBigMultibulkCount) {
      case .number(let count) where count <= 0:
        return .nothing
      case .number(let count) where count <= limits.arguments:
        outstanding = count
      case .number, .invalid:
        return .failed(.invalidMultibulkLength)
      case .needsMore:
        consumed = 0
        return .needsMore
      case .failed(let error):
        return .failed(error)
      }
    }
    while outstanding! > 0 {
      if let step = readArgument(bytes) { return step }
    }
    return .frame
  }

  /// - Returns: nil when the argument is there.
  private mutating func readArgument(_ bytes: Bytes) -> Step? {
    if length == nil {
      guard consumed < bytes.count else { return .needsMore }
      let start = consumed
      guard bytes[start] == UInt8(ascii: "$") else {
        // Redis looks for the end of the line first.
        defer { consumed = start }
        switch readNumber(bytes, .tooBigBulkCount) {
        case .needsMore: return .needsMore
        case .failed(let error): return .failed(error)
        case .number, .invalid:
          return .failed(.expectedLength(got: bytes[start]))
        }
      }
      consumed += 1
      switch readNumber(bytes, .tooBigBulkCount) {
      case .number(let count) where count >= 0 && count <= limits.argument:
        length = count
      case .number, .invalid:
        return .failed(.invalidBulkLength)
      case .needsMore:
        consumed = start
        return .needsMore
      case .failed(let error):
        return .failed(error)
      }
      if consumed + length! > limits.frame { return .failed(.tooBigRequest) }
    }
    // The two bytes behind an argument are passed over unseen, as Redis does it.
    guard bytes.count - consumed >= length! + 2 else { return .needsMore }
    arguments.append(ArgumentRanges.ByteRange(start: UInt32(consumed), count: UInt32(length!)))
    consumed += length! + 2
    length = nil
    outstanding! -= 1
    return nil
  }

  private enum Number {
    case number(Int)
    case invalid
    case needsMore
    case failed(ProtocolError)
  }

  /// The rest of the line as a number; moves behind it.
  private mutating func readNumber(_ bytes: Bytes, _ tooLong: ProtocolError) -> Number {
    var end = consumed
    let last = min(bytes.count, consumed + Limits.line)
    // Redis looks for the end of a string: behind a zero byte there is none.
    while end < last, bytes[end] != ASCII.carriageReturn, bytes[end] != 0 { end += 1 }
    if end == last || bytes[end] == 0 { return bytes.count - consumed > Limits.line ? .failed(tooLong) : .needsMore }
    guard end + 1 < bytes.count else { return .needsMore }
    let number = unsafe Bytes(UnsafeRawBufferPointer(rebasing: bytes.raw[consumed..<end])).integer
    consumed = end + 2
    return number.map { .number($0) } ?? .invalid
  }

  private mutating func readInline(_ bytes: Bytes) -> Step {
    // `consumed` remembers how far there was no line feed.
    let last = min(bytes.count, Limits.line)
    while consumed < last, bytes[consumed] != ASCII.lineFeed, bytes[consumed] != 0 { consumed += 1 }
    if consumed == last || bytes[consumed] == 0 {
      return bytes.count > Limits.line ? .failed(.tooBigInlineRequest) : .needsMore
    }
    var end = consumed
    consumed += 1
    if end > 0, bytes[end - 1] == ASCII.carriageReturn { end -= 1 }
    let line = unsafe [UInt8](UnsafeRawBufferPointer(rebasing: bytes.raw[0..<end]))
    guard let words = InlineCommand.words(of: line) else { return .failed(.unbalancedQuotes) }
    if words.isEmpty { return .nothing }
    inline = RetainedRequest(words)
    return .frame
  }
}
