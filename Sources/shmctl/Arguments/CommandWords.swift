import Glibc

/// The process's arguments on their way to the parser: options as they stand, the keys of a list packed into one word.
///
/// ArgumentParser takes time in the square of the number of values: 8,000 keys took it five seconds. So the keys are found
/// here, in one pass, and travel through it together (`KeyWords`).
struct CommandWords {
  /// What the parser gets.
  private(set) var forParser: [String] = []
  /// The command's name: the first word that is no option, nor the value of one.
  private(set) var command: [UInt8]?

  private var keys: [[UInt8]] = []
  private var expectsValue = false
  private var optionsMayFollow = true
  private var takesKeyList = false
  private var takesType = false

  /// Commands that take any number of keys.
  static let keyListCommands: Swift.Set<String> = [
    "get", "mget", "mset", "del", "exists", "type", "ttl", "persist", "getdel",
  ]
  /// Commands that store a value: `--json` behind their name says what the value is.
  static let typedValueCommands: Swift.Set<String> = ["set", "mset", "cas"]
  /// Options whose value may be the word behind them, of all commands that take lists.
  static let optionsWithValue: Swift.Set<String> = [
    "--table", "--timeout", "--trust", "--trusting", "--default", "--output", "--prefix", "--type", "--ttl",
  ]
  private static let shortOptionsWithValue: [UInt8] = [UInt8(ascii: "t"), UInt8(ascii: "o")]

  init(_ words: [[UInt8]]) {
    forParser.reserveCapacity(min(words.count, 64))
    for word in words { add(word) }
    pack()
  }

  /// The command whose help is asked for and that is none: the parser's `help` then speaks of all.
  var unknownToHelp: [UInt8]? {
    guard forParser.first == "help", forParser.count > 1, !forParser[1].hasPrefix("-") else { return nil }
    let name = RawArgument.decode(forParser[1])
    return Shmctl.has(command: name) ? nil : name
  }

  /// Those of this process.
  static var ofProcess: CommandWords {
    CommandWords(
      (1..<max(1, Int(CommandLine.argc))).compactMap { index in
        guard let start = unsafe CommandLine.unsafeArgv[index] else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: strlen(start)))
      })
  }

  private mutating func add(_ word: [UInt8]) {
    if expectsValue {
      expectsValue = false
      return forParser.append(RawArgument.encode(word, options: true))
    }
    if optionsMayFollow, isOption(word) { return addOption(word) }
    if command == nil {
      begin(word)
    } else if takesKeyList, !(optionsMayFollow && word == Self.dash) {
      keys.append(word)
    } else {
      pack()
      forParser.append(RawArgument.encode(word, options: optionsMayFollow))
    }
  }

  private static let dash = Array("-".utf8)

  private mutating func begin(_ word: [UInt8]) {
    command = word
    let name = String(decoding: word, as: UTF8.self)
    takesType = Self.typedValueCommands.contains(name)
    takesKeyList = Self.keyListCommands.contains(name)
    forParser.append(RawArgument.encode(word, options: optionsMayFollow))
  }

  private func isOption(_ word: [UInt8]) -> Bool {
    word.count > 1 && word[0] == UInt8(ascii: "-") && !RawArgument.looksNegative(word)
  }

  /// Whether the option's value is the next word. Of several letters behind one dash only the last can have one.
  static func takesValue(_ option: [UInt8]) -> Bool {
    if option.starts(with: Array("--".utf8)) {
      return optionsWithValue.contains(String(decoding: option, as: UTF8.self))
    }
    return option.last.map(shortOptionsWithValue.contains) ?? false
  }

  private mutating func addOption(_ word: [UInt8]) {
    let text = String(decoding: word, as: UTF8.self)
    if text == "--" { optionsMayFollow = false } else { expectsValue = Self.takesValue(word) }
    if takesType, text == "--json" { return forParser.append("--json-value") }
    // What is packed needs no `--` before it, and behind one no option could follow the keys any more.
    if takesKeyList, text == "--" { return }
    if let option = optionWithEmptyValue(text) { return forParser += [option, ""] }
    forParser.append(RawArgument.encode(word, options: true))
  }

  /// The option of `--option=`. The parser takes that for an option without a value, and the next word for the value: a key.
  private func optionWithEmptyValue(_ word: String) -> String? {
    guard word.hasSuffix("="), word.hasPrefix("--") else { return nil }
    let option = String(word.dropLast())
    let takesValue =
      Self.optionsWithValue.contains(option)
      || CommandSyntax(of: command.map { String(decoding: $0, as: UTF8.self) }).takesValue(option)
    return takesValue ? option : nil
  }

  /// Hands the keys over that were found up to here: what comes from standard input keeps its place among them.
  private mutating func pack() {
    if !keys.isEmpty { forParser.append(KeyWords.pack(keys)) }
    keys = []
  }
}
