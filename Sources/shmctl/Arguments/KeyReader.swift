/// Keys from standard input: each ends with a newline, or with a zero byte. The last may go without.
struct KeyReader {
  private let terminator: UInt8
  private var input = InputChunks()
  private var unfinished: [UInt8] = []
  private var count = 0

  private static let longest = 65_536

  init(zeroTerminated: Bool) { terminator = zeroTerminated ? 0 : UInt8(ascii: "\n") }

  /// The keys that the next read brings to their end; nil when there is nothing more.
  mutating func next() throws -> [[UInt8]]? {
    while let chunk = try input.next() {
      let keys = try take(chunk)
      if !keys.isEmpty { return keys }
    }
    if unfinished.isEmpty { return nil }
    defer { unfinished = [] }
    return [unfinished]
  }

  private mutating func take(_ chunk: ArraySlice<UInt8>) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var start = chunk.startIndex
    for index in chunk.indices where chunk[index] == terminator {
      try keys.append(finish(chunk[start..<index]))
      start = index + 1
    }
    unfinished += chunk[start...]
    if unfinished.count > Self.longest { throw tooLong }
    return keys
  }

  private mutating func finish(_ end: ArraySlice<UInt8>) throws -> [UInt8] {
    count += 1
    defer { unfinished = [] }
    let key = unfinished + end
    if key.isEmpty {
      throw Complaint.usage("key \(count) on standard input is empty; a key has at least one byte")
    }
    if key.count > Self.longest { throw tooLong }
    return key
  }

  private var tooLong: Complaint {
    Complaint(
      .tooLarge,
      "a key on standard input has more than \(Self.longest) bytes; end each with "
        + (terminator == 0 ? "a zero byte, or leave out -0" : "a newline, or with a zero byte and give -0"))
  }
}
