import Glibc

/// The Markdown page of a run.
struct Report {
  private var text = ""
  private var barLines = ""

  mutating func add(_ contest: Contest, _ results: [String: Samples], _ bars: [Bar]) {
    guard let reference = results[contest.reference] else { return }
    text += "### \(contest.name)\n\n\(contest.unit): \(contest.work).\n\n"
    text += "| | median | middle half | ÷ \(contest.reference) |\n|---|---:|---:|---:|\n"
    for contestant in contest.contestants {
      guard let samples = results[contestant.name] else { continue }
      let (low, high) = samples.spread
      text += "| \(contestant.name) | \(shown(samples.median)) | \(shown(low))–\(shown(high)) "
      text += "| \(shown(samples.compared(with: reference, /))) |\n"
    }
    text += "\n"
    for bar in bars where bar.contest == contest.name {
      guard let measured = bar.measure(results) else { continue }
      let verdict = bar.isReached(by: measured) ? "reached" : "**missed**"
      barLines +=
        "| \(bar.contest) | \(bar.named) | \(bar.described(bar.limit)) | \(shown(measured)) | \(verdict) |\n"
    }
  }

  var markdown: String {
    let bars = barLines.isEmpty ? "" : "| | | bar | measured | |\n|---|---|---:|---:|---|\n\(barLines)\n"
    return bars + text
  }
}

/// Three significant figures.
func shown(_ value: Double) -> String {
  guard value.isFinite else { return "–" }
  let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  var buffer = [CChar](repeating: 0, count: 64)
  withVaList([digits, value]) { _ = vsnprintf(&buffer, buffer.count, "%.*f", $0) }
  let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  guard value >= 1000 else { return text }
  // 12,345
  var grouped = ""
  for (index, character) in text.enumerated() {
    if index > 0, (text.count - index) % 3 == 0 { grouped += "," }
    grouped.append(character)
  }
  return grouped
}
