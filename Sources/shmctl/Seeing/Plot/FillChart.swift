import ToolSupport

/// How full a table was at equal distances of time: as text and as SVG.
struct FillChart {
  let title: String
  /// In percent of the capacity.
  let percent: [Double]
  /// From the first to the last.
  let seconds: Double

  /// The top of the scale: the least of some round numbers that all stay below.
  var scale: Double {
    let most = percent.max() ?? 0
    return [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].first { $0 >= most } ?? 100
  }

  private static let blocks = Array(" ▁▂▃▄▅▆▇█")

  /// - Parameters:
  ///   - width: of the whole, axis included; at least 20 are taken.
  ///   - height: lines in all, title and time included; at least 5 are taken.
  func text(width: Int, height: Int) -> [String] {
    let columns = max(12, width - 8)
    let rows = max(3, height - 2)
    let values = resampled(columns)
    var lines = [String(title.printable.prefix(max(20, width)))]
    for row in 0..<rows {
      // In eighths of a line, from the top.
      let base = Double(rows - 1 - row)
      let cells = values.map { value -> Character in
        let eighths = ((value / scale * Double(rows) - base) * 8).rounded()
        return Self.blocks[max(0, min(8, Int(eighths)))]
      }
      let label = row == 0 ? Self.label(scale) : row == rows - 1 ? "0%" : ""
      lines.append(Self.atRight(label, 6) + "|" + String(cells))
    }
    let end = "\(Self.rounded(seconds)) s"
    lines.append("       0 " + Self.atRight(end, max(end.count, values.count - 2)))
    return lines
  }

  /// One value a column: the largest of those that fall into it.
  private func resampled(_ columns: Int) -> [Double] {
    guard percent.count > columns else { return percent }
    return (0..<columns).map { column in
      let from = column * percent.count / columns
      return percent[from..<max(from + 1, (column + 1) * percent.count / columns)].max() ?? 0
    }
  }

  var svg: String {
    var picture = SVGPicture(title: title)
    let count = max(1, percent.count - 1)
    let points = percent.enumerated().map { index, value in
      picture.place(x: Double(index) / Double(count), y: value / scale)
    }
    for part in [0.0, 0.25, 0.5, 0.75, 1] { picture.addLevel(part, Self.label(scale * part)) }
    picture.addLine(points)
    picture.addBelow(left: "0", right: "\(Self.rounded(seconds)) s")
    return picture.text
  }

  private static func label(_ percent: Double) -> String { rounded(percent) + "%" }

  /// With as many digits as say something.
  private static func rounded(_ number: Double) -> String {
    let hundredths = Int((number * 1000).rounded())
    if hundredths % 1000 == 0 { return "\(hundredths / 1000)" }
    var digits = "\(hundredths % 1000)"
    digits = String(repeating: "0", count: 3 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(hundredths / 1000).\(digits)"
  }

  private static func atRight(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
