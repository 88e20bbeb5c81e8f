import ToolSupport

/// How long operations took: a bar for each span of time, as text and as SVG.
struct LatencyChart {
  let title: String
  let sample: LatencySample

  /// Bars at the far end that are too few to be seen are one: `and more`.
  private func bars(atMost: Int) -> [(label: String, count: Int)] {
    let all = sample.histogram.map { (Self.label($0.from), $0.count) }
    guard all.count > atMost, atMost > 1 else { return all.map { (label: $0.0, count: $0.1) } }
    let rest = all[(atMost - 1)...].reduce(0) { $0 + $1.1 }
    return all[..<(atMost - 1)].map { (label: $0.0, count: $0.1) } + [("≥ " + all[atMost - 1].0, rest)]
  }

  /// With one digit behind the point, so that neighbours differ.
  private static func label(_ nanoseconds: UInt64) -> String {
    for (unit, name) in [(UInt64(1_000_000_000), "s"), (1_000_000, "ms"), (1000, "µs")] where nanoseconds >= unit {
      return "\(nanoseconds / unit).\(nanoseconds % unit * 10 / unit) \(name)"
    }
    return "\(nanoseconds) ns"
  }

  private var summary: String {
    let parts = [50.0, 99, 99.9].map { percent in
      "p\(percent == 99.9 ? "99.9" : "\(Int(percent))") \(sample.percentile(percent).map { Phrase.time($0) } ?? "?")"
    }
    let (all, kept) = (sample.operationCount, sample.count)
    return (all == kept ? "\(all) operations: " : "\(all) operations, \(kept) of them drawn: ")
      + parts.joined(separator: ", ")
  }

  func text(width: Int, height: Int) -> [String] {
    let bars = bars(atMost: max(2, height - 2))
    let most = max(1, bars.map(\.count).max() ?? 1)
    let labels = bars.map(\.label.count).max() ?? 0
    let numbers = bars.map { "\($0.count)".count }.max() ?? 0
    let room = max(4, width - labels - numbers - 4)
    let lines = bars.map { label, count in
      let length = count == 0 ? 0 : max(1, count * room / most)
      return String(repeating: " ", count: labels - label.count) + label + " |"
        + String(repeating: "█", count: length) + String(repeating: " ", count: room - length) + " "
        + String(repeating: " ", count: numbers - "\(count)".count) + "\(count)"
    }
    return [String(title.printable.prefix(max(20, width)))] + lines + [String(summary.prefix(max(20, width)))]
  }

  var svg: String {
    var picture = SVGPicture(title: title + ", " + summary)
    let bars = bars(atMost: 40)
    let most = Double(max(1, bars.map(\.count).max() ?? 1))
    for part in [0.0, 0.5, 1] { picture.addLevel(part, "\(Int(most * part))") }
    picture.addBars(bars.map { ($0.label, Double($0.count) / most) })
    return picture.text
  }
}
