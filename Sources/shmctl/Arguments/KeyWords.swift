import ArgumentParser

/// Keys that stand one behind the other on the command line, as the one word that the parser sees of them; or the `-`
/// that stands for those on standard input.
///
/// A zero byte stands before each: no argument holds one, and a word that begins with one is no option.
struct KeyWords: ExpressibleByArgument {
  /// Nil: they come from standard input.
  let keys: KeyBatch?

  init(argument: String) {
    if argument == "-" {
      keys = nil
    } else {
      let bytes = RawArgument.decode(argument)
      // Each has its zero byte before it, the last, which may be empty, none behind it.
      keys = bytes.first == 0 ? KeyBatch([UInt8](bytes.dropFirst()), between: 0) : KeyBatch(one: bytes)
    }
  }

  static func pack(_ keys: [[UInt8]]) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(keys.reduce(0) { $0 + $1.count + 1 })
    for key in keys {
      bytes.append(0)
      bytes += key
    }
    return RawArgument.encode(bytes, options: false)
  }
}

extension [KeyWords] {
  /// More than one key, or as many as standard input has.
  var areSeveral: Bool { count > 1 || first?.keys.map { $0.count > 1 } ?? true }

  /// Calls `body` with the keys in their order, some at a time: neighbours on the command line together, those of standard
  /// input as they come. An endless input so needs no endless memory.
  func forEachBatch(zeroTerminated: Bool, _ body: (KeyBatch) throws -> Void) throws {
    for words in self {
      if let keys = words.keys {
        try body(keys)
      } else {
        var reader = KeyReader(zeroTerminated: zeroTerminated)
        while let keys = try reader.next() { try body(keys) }
      }
    }
  }
}
