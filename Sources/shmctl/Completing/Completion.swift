import SharedTable
import ToolSupport

/// What a command line may go on with: for the shells' completion and for the interactive mode.
struct Completion {
  /// Words that the last one may become, sorted.
  private(set) var words: [String] = []
  /// Whether the last one may be a file's name, which the shell knows better.
  private(set) var wantsFiles = false

  private var command: String? { didSet { known = nil } }
  /// The command's, once it was asked for: it is read out of a help text, which takes a while to make.
  private var known: CommandSyntax?
  private var argumentCount = 0
  private var optionsMayFollow = true
  /// An option whose value is the next word.
  private var open: String?
  /// Of the table whose keys are looked at.
  private var options: CommonOptions

  /// - Parameters:
  ///   - line: the words behind the program's name; the last is the one to complete, and may be empty.
  ///   - options: what holds of the table unless the line says otherwise.
  init(of line: [String], _ options: CommonOptions = CommonOptions(plain: ())) {
    self.options = options
    guard let last = line.last else { return }
    for word in line.dropLast() { pass(word) }
    complete(last)
  }

  private mutating func pass(_ word: String) {
    if let option = open {
      open = nil
      note(option, word)
    } else if optionsMayFollow, word.hasPrefix("-"), word.utf8.count > 1 {
      passOption(word)
    } else if command == nil {
      command = word
    } else {
      argumentCount += 1
    }
  }

  private mutating func passOption(_ word: String) {
    if word == "--" {
      optionsMayFollow = false
    } else if let equals = word.firstIndex(of: "=") {
      note(String(word[..<equals]), String(word[word.index(after: equals)...]))
    } else if syntax().takesValue(word) {
      open = word
    }
  }

  /// What the options say of the table.
  private mutating func note(_ option: String, _ value: String) {
    let value = RawArgument(bytes: Array(value.utf8))
    switch option {
    case "-t", "--table": options.table = value
    case "--trust", "--trusting": options.general.trust.append(value)
    default: break
    }
  }

  private mutating func syntax() -> CommandSyntax {
    let syntax = known ?? CommandSyntax(of: command)
    known = syntax
    return syntax
  }

  private mutating func complete(_ word: String) {
    if let open { return add(CommandSyntax.value(of: open), word) }
    if optionsMayFollow, word.hasPrefix("-") {
      if let equals = word.firstIndex(of: "=") {
        let value = String(word[word.index(after: equals)...])
        add(CommandSyntax.value(of: String(word[..<equals])), value)
        return words = words.map { word[...equals] + $0 }
      }
      return take(syntax().options.map(\.name).filter { $0.hasPrefix("--") || $0.utf8.count == 2 }, word)
    }
    guard let command else { return add(.commands, word) }
    add(CommandSyntax.argument(of: command, at: argumentCount), word)
  }

  private mutating func add(_ place: CommandSyntax.Place, _ word: String) {
    switch place {
    case .nothing: break
    case .files: wantsFiles = true
    case .words(let words): take(words, word)
    case .commands: take(Shmctl.shownCommands, word)
    case .tables: take((try? Table.names()) ?? [], word)
    case .users: take(Self.names(in: "passwd") + ["everyone"], word)
    case .groups: take(Self.names(in: "group"), word)
    case .keys: take((try? Self.keys(from: word, in: openTable())) ?? [], word)
    }
  }

  private mutating func take(_ candidates: [String], _ word: String) {
    words = Swift.Set(candidates.filter { $0.hasPrefix(word) }).sorted()
  }

  private static func names(in database: String) -> [String] {
    (try? Getent.entries(of: database))?.compactMap { $0.split(separator: ":").first.map(String.init) } ?? []
  }

  /// More than these help nobody, and a look at more would keep a person waiting.
  static let mostKeys = 500
  static let mostLookedAt = 200_000

  /// Keys that begin with it and can be shown, among those that a look meets first; fewer where the table cannot be read.
  static func keys(from prefix: String, in table: Table, lookingAt most: Int = mostLookedAt) -> [String] {
    var keys: [String] = []
    try? table.read { view in
      try view.forEachKey(atMost: most) { key in
        let bytes = unsafe key.withUnsafeBytes { bytes in
          unsafe bytes.starts(with: prefix.utf8) ? unsafe [UInt8](bytes) : nil
        }
        if let bytes, let text = String(validating: bytes, as: UTF8.self), text.printable == text { keys.append(text) }
        return keys.count < mostKeys
      }
    }
    return keys
  }

  private func openTable() throws -> Table {
    var options = options
    // A person waits, and nothing is to be said.
    options.givenTimeout = TimeSpan(milliseconds: 500)
    return try options.open()
  }
}
