import Glibc

/// Medians of one contest as bars on a logarithmic scale: an SVG that reads on light and dark pages.
struct Plot {
  let title: String
  let bars: [(name: String, nanoseconds: Double, isOurs: Bool)]

  private static let rowHeight = 22.0
  private static let left = 190.0
  private static let right = 70.0
  private static let width = 760.0

  var svg: String {
    let largest = bars.map(\.nanoseconds).max() ?? 1
    let smallest = pow(10, floor(log10(bars.map(\.nanoseconds).min() ?? 1)))
    let scale = (Self.width - Self.left - Self.right) / max(0.5, log10(largest / smallest))
    let height = 60 + Self.rowHeight * Double(bars.count)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="13">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="12" y="24" font-size="15" fill="#1f2328">\(title)</text>

      """
    for (index, bar) in bars.enumerated() {
      let y = 44 + Self.rowHeight * Double(index)
      let length = max(2, log10(bar.nanoseconds / smallest) * scale)
      text += """
        <text x="\(Self.left - 8)" y="\(y + 13)" text-anchor="end" fill="#1f2328">\(bar.name)</text>
        <rect x="\(Self.left)" y="\(y)" width="\(length)" height="16" fill="\(bar.isOurs ? "#0969da" : "#afb8c1")"/>
        <text x="\(Self.left + length + 6)" y="\(y + 13)" fill="#1f2328">\(shown(bar.nanoseconds)) ns</text>

        """
    }
    return text + "</svg>\n"
  }
}
