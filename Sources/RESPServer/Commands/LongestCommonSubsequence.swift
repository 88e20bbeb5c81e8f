import SharedTable

/// `LCS key key [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]`.
struct LongestCommonSubsequence {
  /// A table of lengths of this many bytes at most: it is made on the event loop.
  private static let mostBytes = 64 << 20

  private let first: Bytes
  private let second: Bytes
  private var wantsLength = false
  private var wantsPlaces = false
  private var wantsMatchLength = false
  private var shortest = 0

  init(_ request: Request) throws(CommandError) {
    first = request[1]
    second = request[2]
    var index = 3
    while index < request.count {
      let option = request[index]
      if option.isWord("IDX") {
        wantsPlaces = true
      } else if option.isWord("LEN") {
        wantsLength = true
      } else if option.isWord("WITHMATCHLEN") {
        wantsMatchLength = true
      } else if option.isWord("MINMATCHLEN"), index + 1 < request.count {
        index += 1
        guard let length = request[index].integer else { throw .notAnInteger }
        shortest = max(0, length)
      } else {
        throw .syntax
      }
      index += 1
    }
    if wantsLength, wantsPlaces {
      throw CommandError("ERR If you want both the length and indexes, please just use IDX.")
    }
  }

  func answer<S: Section & ~Copyable & ~Escapable>(_ section: borrowing S, _ reply: inout Reply) throws {
    let (left, right) = (try section.value(first), try section.value(second))
    guard left?.isText ?? true, right?.isText ?? true else {
      throw CommandError("ERR The specified keys must contain string values")
    }
    let (a, b) = (left?.text ?? [], right?.text ?? [])
    let (cells, overflow) = (a.count + 1).multipliedReportingOverflow(by: (b.count + 1) * 4)
    if overflow || cells > Self.mostBytes {
      throw CommandError("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
    }
    let lengths = Self.lengths(a, b)
    let length = Int(lengths[lengths.count - 1])
    if wantsLength { return reply.integer(length) }
    let matches = Self.matches(a, b, lengths)
    if !wantsPlaces {
      return reply.bulk(matches.reversed().flatMap { a[$0.a..<$0.a + $0.count] })
    }
    answerPlaces(matches.filter { $0.count >= shortest }, length, &reply)
  }

  private func answerPlaces(_ matches: [Match], _ length: Int, _ reply: inout Reply) {
    reply.map(2)
    reply.bulk("matches")
    reply.array(matches.count)
    for match in matches {
      reply.array(wantsMatchLength ? 3 : 2)
      for start in [match.a, match.b] {
        reply.array(2)
        reply.integer(start)
        reply.integer(start + match.count - 1)
      }
      if wantsMatchLength { reply.integer(match.count) }
    }
    reply.bulk("len")
    reply.integer(length)
  }

  private struct Match {
    var a: Int
    var b: Int
    var count: Int
  }

  /// Row by row: the length for each pair of beginnings.
  private static func lengths(_ a: [UInt8], _ b: [UInt8]) -> [UInt32] {
    let width = b.count + 1
    var lengths = [UInt32](repeating: 0, count: (a.count + 1) * width)
    for i in 0..<a.count {
      for j in 0..<b.count {
        lengths[(i + 1) * width + j + 1] =
          a[i] == b[j]
          ? lengths[i * width + j] + 1 : max(lengths[i * width + j + 1], lengths[(i + 1) * width + j])
      }
    }
    return lengths
  }

  /// The runs of one of the longest, from the end: the one that Redis finds.
  private static func matches(_ a: [UInt8], _ b: [UInt8], _ lengths: [UInt32]) -> [Match] {
    let width = b.count + 1
    var matches: [Match] = []
    var isOpen = false
    var (i, j) = (a.count, b.count)
    while i > 0, j > 0 {
      if a[i - 1] == b[j - 1] {
        (i, j) = (i - 1, j - 1)
        if isOpen {
          matches[matches.count - 1].a = i
          matches[matches.count - 1].b = j
          matches[matches.count - 1].count += 1
        } else {
          matches.append(Match(a: i, b: j, count: 1))
          isOpen = true
        }
      } else {
        isOpen = false
        if lengths[(i - 1) * width + j] > lengths[i * width + j - 1] { i -= 1 } else { j -= 1 }
      }
    }
    return matches
  }
}
