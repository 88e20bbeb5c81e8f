import SharedMemory
import SharedTable
import ToolSupport

/// The interactive mode: edits lines and runs them.
struct Shell {
  private let terminal: LineTerminal
  private var history = History.ofUser
  /// What every command gets.
  private var options: CommonOptions
  /// For every command: `--json`, `-q`.
  private let flags: [String]
  private let variables: [(name: String, value: [UInt8])]
  private let program: String

  private init(_ options: CommonOptions) throws {
    terminal = try LineTerminal()
    self.options = options
    flags = (options.json ? ["--json"] : []) + (options.quiet ? ["-q"] : [])
    var variables: [(name: String, value: [UInt8])] = []
    if let timeout = options.givenTimeout { variables.append(("SHM_TIMEOUT", Array("\(timeout)".utf8))) }
    let trust = options.givenTrust
    if !trust.isEmpty {
      variables.append(("SHM_TRUST", Array(trust.map(\.bytes).joined(separator: [UInt8(ascii: ",")]))))
    }
    self.variables = variables
    program = HostFile.target(ofLink: "/proc/self/exe") ?? "/proc/self/exe"
  }

  static func run(_ options: CommonOptions) throws {
    var shell = try Shell(options)
    try shell.run()
  }

  /// Until Ctrl-D or `exit`.
  private mutating func run() throws {
    while let line = try edit() {
      history.add(line)
      do {
        let words = try Self.words(line)
        if try perform(words) { return }
      } catch let wrong as OperationLine.Wrong {
        StandardError.write(wrong.message)
      } catch let complaint as Complaint {
        StandardError.write(complaint.message)
      }
    }
  }

  // MARK: - A line's meaning

  /// What people know from other shells and does not hold here is refused, not stored with its quotes; and what would not reach the
  /// command whole.
  static func words(_ line: String) throws -> [[UInt8]] {
    let words = try WordLine.words(Array(line.utf8), refusingSingleQuotes: true)
    guard !words.contains(where: { $0.contains(0) }) else {
      throw OperationLine.Wrong("no argument of a command can hold a zero byte; 'shmctl batch' takes it")
    }
    return words
  }

  /// - Returns: whether the shell ends.
  private mutating func perform(_ words: [[UInt8]]) throws -> Bool {
    guard let first = words.first else { return false }
    switch (String(decoding: first, as: UTF8.self), words.count) {
    case ("exit", 1), ("quit", 1): return true
    case ("use", 2): try use(String(decoding: words[1], as: UTF8.self))
    case ("use", _): throw Complaint.usage("'use' takes a table's name; 'tables' lists them")
    case ("shell", _): throw Complaint.usage("this is the shell; 'exit' ends it")
    default: try start(words)
    }
    return false
  }

  private mutating func use(_ name: String) throws {
    if let tables = try? Table.names(), !tables.contains(name) {
      let near = Suggestion.nearest(to: name, among: tables)
      let meant = near.map { "did you mean '\($0.printable)'?" } ?? "'tables' lists them"
      throw Complaint(.noSuchTable, "there is no table '\(name.printable)'; \(meant)")
    }
    options.table = RawArgument(bytes: Array(name.utf8))
  }

  private func start(_ words: [[UInt8]]) throws {
    var process = ChildProcess(words: [Array(program.utf8)] + flags.map { Array($0.utf8) } + words)
    process.additions = variables + [("SHM_TABLE", Array(options.tableName.utf8))]
    let status = try process.runInForeground()
    // A command that a signal ended may have left the cursor anywhere.
    if status > 128 { try terminal.write("\n") }
  }

  // MARK: - Editing

  private var prompt: String { "shmctl \(options.tableName.printable)> " }

  /// A line; nil at the end.
  private func edit() throws -> String? {
    terminal.enter()
    defer { terminal.leave() }
    var editor = LineEditor(history: history.lines)
    while true {
      // What a paste brought is shown at its end.
      if !terminal.hasKey { try show(editor) }
      switch terminal.next() {
      case .end: return nil
      case .resized: break
      case .key(let key):
        switch editor.press(key) {
        case .editing: break
        case .accepted(let line):
          try finish(editor)
          return line
        case .cancelled:
          try finish(editor)
          editor = LineEditor(history: history.lines)
        case .ended:
          try finish(editor)
          return nil
        case .wantsCompletion: try complete(&editor)
        case .wantsClear: try terminal.write("\u{1b}[H\u{1b}[2J")
        }
      }
    }
  }

  private func show(_ editor: LineEditor) throws {
    try terminal.show(LineView(prompt: prompt, before: editor.before, after: editor.after, width: terminal.width))
  }

  private func finish(_ editor: LineEditor) throws {
    try terminal.show(LineView(prompt: prompt, before: editor.text, after: "", width: terminal.width))
    try terminal.write("\r\n")
  }

  // MARK: - Completion

  private func complete(_ editor: inout LineEditor) throws {
    guard let (typed, start) = try? WordLine.unfinished(Array(editor.before.utf8)) else { return }
    let words = typed.map { String(decoding: $0, as: UTF8.self) }
    let answers = Completion.answers(toTyped: words, options)
    guard let first = answers.first else { return }
    let common = answers.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
    if answers.count == 1 {
      editor.complete(spelled(first) + " ", from: start)
    } else if common != words.last {
      editor.complete(spelled(common), from: start)
    } else {
      try list(answers, editor)
    }
  }

  private func spelled(_ word: String) -> String { String(decoding: WordLine.escaped(Array(word.utf8)), as: UTF8.self) }

  /// Below the line, in columns; as many as a small screen has room for.
  private func list(_ answers: [String], _ editor: LineEditor) throws {
    try finish(editor)
    let width = (answers.map(LineView.columns).max() ?? 0) + 2
    let perRow = max(1, terminal.width / width)
    let shown = answers.prefix(perRow * 15)
    for row in stride(from: 0, to: shown.count, by: perRow) {
      let cells = shown[row..<min(row + perRow, shown.count)].map { answer in
        answer.printable + String(repeating: " ", count: max(0, width - LineView.columns(answer)))
      }
      try terminal.write(cells.joined() + "\r\n")
    }
    if shown.count < answers.count { try terminal.write("… and \(answers.count - shown.count) more\r\n") }
  }
}

extension Completion {
  /// What the last of the words on a shell's line may become: besides commands, there are the shell's own.
  static func answers(toTyped words: [String], _ options: CommonOptions) -> [String] {
    switch (words.first, words.count) {
    case (let word?, 1):
      (Completion(of: [word]).words + ["exit", "quit", "use"].filter { $0.hasPrefix(word) }).filter { $0 != "shell" }
        .sorted()
    case ("use", 2): Completion(of: ["--table", words[1]]).words
    default: Completion(of: words, options).words
    }
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
