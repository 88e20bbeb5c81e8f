/// Keys from standard input: each ends with a newline, or with a zero byte. The last may go without.
struct KeyReader {
  private let terminator: UInt8
  private let longest: Int
  private let word: String
  private var input = InputChunks(.standardInput)
  private var unfinished: [UInt8] = []
  /// How many there were up to now.
  private(set) var count = 0

  /// - Parameters:
  ///   - longest: how many bytes one may have; by default a key's.
  ///   - word: what one is called in complaints. A key cannot be empty; anything else can.
  init(zeroTerminated: Bool, longest: Int = 65_536, word: String = "key") {
    terminator = zeroTerminated ? 0 : UInt8(ascii: "\n")
    self.longest = longest
    self.word = word
  }

  /// Those that the next read brings to their end; nil when there is nothing more.
  mutating func next() throws -> [[UInt8]]? {
    while let chunk = try input.next() {
      let keys = try take(chunk)
      if !keys.isEmpty { return keys }
    }
    if unfinished.isEmpty { return nil }
    return [try finish([])]
  }

  private mutating func take(_ chunk: ArraySlice<UInt8>) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var start = chunk.startIndex
    while let end = chunk[start...].firstIndex(of: terminator) {
      keys.append(try finish(chunk[start..<end]))
      start = end + 1
    }
    unfinished += chunk[start...]
    if unfinished.count > longest { throw tooLong }
    return keys
  }

  private mutating func finish(_ end: ArraySlice<UInt8>) throws -> [UInt8] {
    count += 1
    let key = unfinished.isEmpty ? [UInt8](end) : unfinished + end
    unfinished = []
    if key.isEmpty, word == "key" {
      throw Complaint.usage("key \(count) on standard input is empty; a key has at least one byte")
    }
    if key.count > longest { throw tooLong }
    return key
  }

  private var tooLong: Complaint {
    Complaint(
      .tooLarge,
      "a \(word) on standard input has more than \(longest) bytes; end each with "
        + (terminator == 0 ? "a zero byte, or leave out -0" : "a newline, or with a zero byte and give -0"))
  }
}
