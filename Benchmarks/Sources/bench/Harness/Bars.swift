/// What must hold: a ratio of two contestants' medians within one contest, from Benchmarks/bars.txt.
///
/// A line: CONTEST | CONTESTANT | OVER | <= or >= | RATIO | HELD. Their figures are divided as written, round by round; with
/// a plus before the number they are subtracted. HELD is what `--check` insists on where the bar itself is out of reach.
struct Bar {
  let contest: String
  let contestant: String
  let over: String
  let isUpper: Bool
  let limit: Double
  let held: Double
  /// The limit is one of the difference, not of the ratio.
  let isDifference: Bool

  static func read(_ path: String) throws -> [Bar] {
    var bars: [Bar] = []
    for text in try lines(of: path) {
      let cells = text.split(separator: "|").map { $0.trimmed }
      if cells.count < 5 || cells[0].hasPrefix("#") { continue }
      guard let limit = Double(cells[4]), let held = Double(cells.count > 5 ? cells[5] : cells[4]),
        cells[3] == "<=" || cells[3] == ">="
      else {
        throw Failure("\(path): not a bar: \(text)")
      }
      bars.append(
        Bar(
          contest: cells[0], contestant: cells[1], over: cells[2], isUpper: cells[3] == "<=", limit: limit, held: held,
          isDifference: cells[4].hasPrefix("+")))
    }
    return bars
  }

  /// - Returns: nil if one of the two did not take part.
  func measure(_ results: [String: Samples]) -> Double? {
    guard let a = results[contestant], let b = results[over] else { return nil }
    return a.compared(with: b, isDifference ? (-) : (/))
  }

  func isReached(by measured: Double) -> Bool { isUpper ? measured <= limit : measured >= limit }
  func isHeld(by measured: Double) -> Bool { isUpper ? measured <= held : measured >= held }

  func described(_ limit: Double) -> String { "\(isUpper ? "≤" : "≥") \(shown(limit))\(isDifference ? " more" : "×")" }
  var named: String { "\(contestant) \(isDifference ? "−" : "÷") \(over)" }
}

extension Substring {
  var trimmed: String {
    var rest = self
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
