import ToolSupport

/// `top`'s screen as a function of state and size: at most `height` lines, none wider than `width`.
enum TopFrame {
  static func lines(_ state: TopState, width: Int, height: Int) -> [FrameLine] {
    guard width > 0, height > 0 else { return [] }
    let head = [title(state), settings(state)]
    let below = height >= 12 ? tail(state, height: height) : []
    let keys = height >= 6 ? [FrameLine(text: keyLine(state), style: .faint)] : []
    let room = max(0, height - head.count - 1 - below.count - keys.count)
    let rows = Array(state.shown.dropFirst(state.offset).prefix(room))
    var lines = head + [FrameLine(text: heading(width), style: .heading)]
    lines += rows.map { FrameLine(text: row($0, width), style: $0.isAlarming ? .alarm : .plain) }
    if rows.isEmpty, room > 0 {
      lines.append(FrameLine(text: state.rows.isEmpty ? "no tables" : "no table's name contains '\(state.filter)'"))
    }
    lines += Array(repeating: FrameLine(text: ""), count: max(0, room - max(1, rows.count)))
    return (lines + below + keys).prefix(height).map { FrameLine(text: fitted($0.text, width), style: $0.style) }
  }

  // MARK: - Head and tail

  private static func title(_ state: TopState) -> FrameLine {
    let commits = state.rows.reduce(0) { $0 + $1.commitsPerSecond }
    let waits = state.rows.reduce(0) { $0 + $1.waitsPerSecond }
    let processes = state.commands.reduce(0) { $0 + $1.processes }
    // The names that are no tables for us come last, where they are cut off if anything is.
    let others = state.others > 0 ? "  \(state.others) other names" : ""
    return FrameLine(
      text:
        "shmctl top  \(state.time)  \(Phrase.count(state.rows.count, "table", "tables"))  \(count(commits)) commits/s  "
        + "\(count(waits)) waits/s  \(Phrase.count(processes, "process", "processes"))\(others)", style: .title)
  }

  private static func settings(_ state: TopState) -> FrameLine {
    var text = "by \(state.order.rawValue)\(state.isReversed ? ", reversed" : "")"
    if state.isTyping {
      text += "  filter: \(state.filter)_"
    } else if !state.filter.isEmpty {
      text += "  filter: \(state.filter)"
    }
    if state.isPaused { text += "  PAUSED" }
    return FrameLine(text: text)
  }

  /// Participants by command, and who is in the way.
  private static func tail(_ state: TopState, height: Int) -> [FrameLine] {
    let most = max(1, height / 8)
    let commands = state.commands.sorted { ($1.threads, $0.name) < ($0.threads, $1.name) }
    var lines = [FrameLine(text: "PARTICIPANTS", style: .heading)]
    let named = commands.map { "\($0.name) \($0.processes) (\($0.threads) \($0.threads == 1 ? "thread" : "threads"))" }
      .joined(separator: ", ")
    lines.append(FrameLine(text: named.isEmpty ? "nobody" : named))
    lines.append(FrameLine(text: "IN THE WAY", style: .heading))
    if state.stalled.isEmpty { lines.append(FrameLine(text: "nobody")) }
    lines += state.stalled.prefix(most).map { FrameLine(text: "\($0.table): \($0.who) \($0.what)", style: .alarm) }
    if state.stalled.count > most { lines.append(FrameLine(text: "and \(state.stalled.count - most) more")) }
    return lines
  }

  private static func keyLine(_ state: TopState) -> String {
    state.isTyping ? "Enter: keep the filter  Esc: none" : "q quit  s sort  r reverse  / filter  p pause  j k scroll"
  }

  // MARK: - Rows

  private static let numberWidths = [9, 8, 9, 5, 9, 5]

  /// What is left for the name, and for the note behind the numbers.
  private static func widths(_ width: Int) -> (name: Int, note: Int) {
    let rest = width - numberWidths.reduce(0) { $0 + $1 + 1 }
    let name = max(8, min(24, rest * 2 / 3))
    return (name, max(0, rest - name - 1))
  }

  private static func heading(_ width: Int) -> String {
    cells("TABLE", ["COMMITS/S", "WAITS/S", "KEYS", "FILL", "CAPACITY", "PROCS"], "NOW", width)
  }

  private static func row(_ row: TopState.Row, _ width: Int) -> String {
    let numbers = [
      count(row.commitsPerSecond), count(row.waitsPerSecond), count(UInt64(max(0, row.keys))),
      row.fillPercent.map { "\($0)%" } ?? "?", "\(ByteCount(bytes: row.capacityBytes))",
      row.processes.map { "\($0)" } ?? "?",
    ]
    return cells(row.name, numbers, row.note, width)
  }

  private static func cells(_ name: String, _ numbers: [String], _ note: String, _ width: Int) -> String {
    let widths = widths(width)
    var text = padded(fitted(name, widths.name), widths.name)
    for (number, numberWidth) in zip(numbers, numberWidths) {
      text += " " + String(repeating: " ", count: max(0, numberWidth - number.count)) + number
    }
    return padded(text + (widths.note > 0 ? " " + fitted(note, widths.note) : ""), width)
  }

  /// Up to five digits as they are, then in thousands.
  static func count(_ number: UInt64) -> String {
    switch number {
    case ..<100_000: "\(number)"
    case ..<10_000_000: "\(number / 1000)k"
    case ..<10_000_000_000: "\(number / 1_000_000)M"
    default: "\(number / 1_000_000_000)G"
    }
  }

  /// Cut to the width, with a mark. What is no ASCII is shown as `?`: how wide it is, is the terminal's secret.
  private static func fitted(_ text: String, _ width: Int) -> String {
    let plain = String(text.printable.map { $0.isASCII ? $0 : "?" })
    return plain.count <= width ? plain : String(plain.prefix(max(0, width - 1))) + "+"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
