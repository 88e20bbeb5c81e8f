import Glibc

/// Medians of one contest as bars on a logarithmic scale, the least first: an SVG that reads on light and dark pages.
struct Plot {
  let title: String
  let unit: String
  let bars: [(name: String, value: Double)]

  private static let rowHeight = 22.0
  private static let left = 200.0
  private static let right = 100.0
  private static let width = 760.0
  private static let top = 66.0

  var svg: String {
    let sorted = bars.sorted { $0.value < $1.value }
    let largest = sorted.last?.value ?? 1
    let smallest = pow(10, floor(log10(sorted.first?.value ?? 1)))
    let scale = (Self.width - Self.left - Self.right) / max(0.5, log10(largest / smallest))
    let height = Self.top + 16 + Self.rowHeight * Double(bars.count)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="13">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="12" y="24" font-size="15" fill="#1f2328">\(title), \(unit) (logarithmic)</text>

      """
    text += legend
    for (index, bar) in sorted.enumerated() {
      let y = Self.top + Self.rowHeight * Double(index)
      let length = max(2, log10(bar.value / smallest) * scale)
      text += """
        <text x="\(Self.left - 8)" y="\(y + 13)" text-anchor="end" fill="#1f2328">\(bar.name)</text>
        <rect x="\(Self.left)" y="\(y)" width="\(length)" height="16" fill="\(Kind(of: bar.name).colour)"/>
        <text x="\(Self.left + length + 6)" y="\(y + 13)" fill="#1f2328">\(shown(bar.value)) \(unit)</text>

        """
    }
    return text + "</svg>\n"
  }

  /// Of the kinds that there are.
  private var legend: String {
    var text = ""
    var x = 12.0
    for kind in Kind.allCases where bars.contains(where: { Kind(of: $0.name) == kind }) {
      text += """
        <rect x="\(x)" y="38" width="12" height="12" fill="\(kind.colour)"/>
        <text x="\(x + 18)" y="49" fill="#57606a">\(kind.label)</text>

        """
      x += 40 + 7 * Double(kind.label.count)
    }
    return text
  }
}

extension Plot {
  /// The plots of all contests on a page that ``Report`` wrote.
  static func all(on page: [String]) -> [(contest: String, plot: Plot)] {
    var found: [(contest: String, plot: Plot)] = []
    var contest: String?
    var (unit, work) = ("", "")
    var bars: [(name: String, value: Double)] = []
    func end() {
      guard let contest, !bars.isEmpty else { return }
      found.append((contest, Plot(title: "\(contest): \(work)", unit: unit, bars: bars)))
    }
    for line in page {
      let line = line.split(separator: "\n").first ?? ""
      if line.hasPrefix("### ") {
        end()
        (contest, unit, bars) = (String(line.dropFirst(4)), "", [])
      } else if contest != nil, unit.isEmpty, let colon = line.firstIndex(of: ":"), line.hasSuffix(".") {
        unit = line[..<colon] == "Nanoseconds" ? "ns" : line[..<colon].lowercased()
        work = String(line[colon...].dropFirst(2).dropLast())
      } else if contest != nil, line.hasPrefix("| ") {
        let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        if cells.count > 1, let value = Double(cells[1].filter { $0 != "," }) { bars.append((cells[0], value)) }
      }
    }
    end()
    return found
  }
}
