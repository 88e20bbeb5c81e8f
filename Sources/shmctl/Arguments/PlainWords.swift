import ArgumentParser
import ToolSupport

/// A command line in its plainest form: the name of an everyday command, its keys and values, and at most the options that all
/// commands have, each by its full name.
///
/// ArgumentParser takes ten million instructions to describe 46 commands to itself and to read three words; the get behind it
/// half a million. So what a loop of a script runs thousands of times is read here. Whatever is not plain is the parser's, and so is
/// every mistake: its words are the only ones about usage.
struct PlainWords {
  private var options = CommonOptions(plain: ())
  private var words: [String] = []

  /// The command that the words ask for; nil if the parser must read them.
  static func command(_ words: CommandWords) -> (any ParsableCommand)? {
    guard let name = words.command, let plain = PlainWords(words.forParser),
      (try? plain.options.general.validate()) != nil
    else {
      return nil
    }
    return plain.command(String(decoding: name, as: UTF8.self))
  }

  private init?(_ given: [String]) {
    var rest = given[...]
    while let word = rest.popFirst() {
      if word.utf8.count < 2 || word.utf8.first != UInt8(ascii: "-") {
        words.append(word)
      } else if !take(word, &rest) {
        return nil
      }
    }
    // The first is the command's name.
    words.removeFirst()
  }

  private mutating func take(_ option: String, _ rest: inout ArraySlice<String>) -> Bool {
    switch option {
    case "-q", "--quiet": options.quiet = true
    case "--json": options.json = true
    case "-t", "--table":
      guard options.table == nil, let name = rest.popFirst(), name.utf8.first != UInt8(ascii: "-") else { return false }
      options.table = RawArgument(argument: name)
    default: return false
    }
    return true
  }

  /// Nil if it is another command, or a form of it that only the parser knows.
  private func command(_ name: String) -> (any ParsableCommand)? {
    switch (name, words.count) {
    case ("get", 1...): return Get(options, keys)
    case ("exists", 1...): return Exists(options, keys)
    case ("del", 1...): return Del(options, keys)
    case ("incr", 1): return Incr(options, RawArgument(argument: words[0]), nil)
    case ("incr", 2):
      guard let amount = DecimalArgument(argument: words[1]) else { return nil }
      return Incr(options, RawArgument(argument: words[0]), amount)
    case ("set", 2): return Set(options, RawArgument(argument: words[0]), RawArgument(argument: words[1]))
    default: return nil
    }
  }

  private var keys: [KeyWords] { words.map(KeyWords.init) }
}

// A property that an initializer here leaves out ends the program where it is read: the test `plainWordsAreReadAsTheParserDoes` looks at
// all of them.

extension CommonOptions {
  /// As if none were given.
  init(plain: Void) {
    self.init()
    table = nil
    general = GeneralOptions(plain: ())
  }
}

extension GeneralOptions {
  fileprivate init(plain: Void) {
    self.init()
    givenTimeout = nil
    json = false
    quiet = false
    trust = []
    trusting = []
  }
}

extension Get {
  fileprivate init(_ options: CommonOptions, _ keys: [KeyWords]) {
    self.init()
    self.options = options
    self.keys = keys
    null = false
    `default` = nil
    output = nil
    raw = false
  }
}

extension Exists {
  fileprivate init(_ options: CommonOptions, _ keys: [KeyWords]) {
    self.init()
    self.options = options
    self.keys = keys
    null = false
  }
}

extension Del {
  fileprivate init(_ options: CommonOptions, _ keys: [KeyWords]) {
    self.init()
    self.options = options
    self.keys = keys
    null = false
    prefix = nil
    yes = false
    force = false
  }
}

extension Incr {
  fileprivate init(_ options: CommonOptions, _ key: RawArgument, _ amount: DecimalArgument?) {
    self.init()
    self.options = options
    self.key = key
    self.amount = amount
    force = false
  }
}

extension Set {
  fileprivate init(_ options: CommonOptions, _ key: RawArgument, _ value: RawArgument) {
    self.init()
    self.options = options
    valueOptions = ValueOptions(plain: ())
    ttl = nil
    keepTTL = false
    persist = false
    ifAbsent = false
    ifPresent = false
    ifVersion = nil
    printsOld = false
    file = nil
    force = false
    sync = false
    self.key = key
    self.value = value
  }
}

extension ValueOptions {
  fileprivate init(plain: Void) {
    self.init()
    type = nil
    kind = nil
  }
}
