import SharedTable

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
  init(zeroTerminated: Bool, longest: Int = Table.keyLengths.upperBound, word: String = "key") {
    terminator = zeroTerminated ? 0 : UInt8(ascii: "\n")
    self.longest = longest
    self.word = word
  }

  /// Those that the next read brings to their end; nil when there is nothing more.
  mutating func next() throws -> KeyBatch? {
    while let chunk = try input.next() {
      guard let last = chunk.lastIndex(of: terminator) else {
        unfinished += chunk
        if unfinished.count > longest { throw tooLong }
        continue
      }
      let ended = unfinished + chunk[...last]
      unfinished = [UInt8](chunk[(last + 1)...])
      return try checked(KeyBatch(ended, endedBy: terminator))
    }
    if unfinished.isEmpty { return nil }
    defer { unfinished = [] }
    return try checked(KeyBatch(one: unfinished))
  }

  private mutating func checked(_ batch: KeyBatch) throws -> KeyBatch {
    for key in batch {
      count += 1
      if key.isEmpty, word == "key" {
        throw Complaint.usage("key \(count) on standard input is empty; a key has at least one byte")
      }
      if key.count > longest { throw tooLong }
    }
    return batch
  }

  private var tooLong: Complaint {
    Complaint(
      .tooLarge,
      "a \(word) on standard input has more than \(longest) bytes; end each with "
        + (terminator == 0 ? "a zero byte, or leave out -0" : "a newline, or with a zero byte and give -0"))
  }
}
