/// What `top` shows at one moment, and how: without a terminal, a clock or a table, so that tests can make any.
struct TopState {
  struct Row: Equatable {
    var name: String
    var variant = "rcu"
    var commitsPerSecond: UInt64 = 0
    /// Barriers a second that had to wait for another.
    var waitsPerSecond: UInt64 = 0
    var keys = 0
    /// Of the capacity, in percent; nil for an observer.
    var fillPercent: Int?
    var capacityBytes = 0
    /// Processes that take part; nil for an observer.
    var processes: Int?
    /// Who runs a barrier just now, or what else is to be said.
    var note = ""
    var isAlarming = false
  }

  struct Command: Equatable {
    var name: String
    var processes: Int
    var threads: Int
  }

  /// A reader in the way, or a stopped process that holds something.
  struct Stalled: Equatable {
    var table: String
    var who: String
    var what: String
  }

  enum Order: String, CaseIterable {
    case commits, waits, fill, keys, name

    var next: Order { Self.allCases[(Self.allCases.firstIndex(of: self)! + 1) % Self.allCases.count] }
  }

  var rows: [Row] = []
  var commands: [Command] = []
  var stalled: [Stalled] = []
  /// Names that are no tables for us.
  var others = 0
  /// Time of day, as text.
  var time = ""
  var order = Order.commits
  var isReversed = false
  var filter = ""
  /// The filter is being typed.
  var isTyping = false
  var isPaused = false
  /// How many rows are scrolled past.
  var offset = 0

  /// The rows that the filter admits, sorted; largest first, but names from A on. Equals by name, so that nothing jumps.
  var shown: [Row] {
    let sorted = rows.filter({ admits($0.name) }).sorted { a, b in
      switch order {
      case .commits where a.commitsPerSecond != b.commitsPerSecond: a.commitsPerSecond > b.commitsPerSecond
      case .waits where a.waitsPerSecond != b.waitsPerSecond: a.waitsPerSecond > b.waitsPerSecond
      case .fill where a.fillPercent != b.fillPercent: (a.fillPercent ?? -1) > (b.fillPercent ?? -1)
      case .keys where a.keys != b.keys: a.keys > b.keys
      default: a.name < b.name
      }
    }
    return isReversed ? sorted.reversed() : sorted
  }

  /// Does the filter admit a table of this name?
  func admits(_ name: String) -> Bool { filter.isEmpty || name.contains(filter) }

  /// What a key does. Escape sequences of other keys are ignored.
  /// - Returns: false to end.
  mutating func press(_ key: Character) -> Bool {
    if isTyping { return type(key) }
    switch key {
    case "q", "Q": return false
    case "s": order = order.next
    case "r": isReversed.toggle()
    case "/": isTyping = true
    case "p", " ": isPaused.toggle()
    case "j": offset = min(offset + 1, max(0, shown.count - 1))
    case "k": offset = max(0, offset - 1)
    case "\u{1b}": filter = ""
    default: break
    }
    return true
  }

  private mutating func type(_ key: Character) -> Bool {
    switch key {
    case "\r", "\n", "\r\n": isTyping = false
    case "\u{1b}":
      isTyping = false
      filter = ""
    case "\u{7f}", "\u{8}": filter = String(filter.dropLast())
    case " "..."~" where filter.count < 64: filter.append(key)
    default: break
    }
    offset = 0
    return true
  }
}
