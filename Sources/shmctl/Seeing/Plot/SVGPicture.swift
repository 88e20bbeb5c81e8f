import ToolSupport

/// A diagram of 720 × 360 as SVG 1.1, readable by itself: its own background, no script, nothing from elsewhere.
struct SVGPicture {
  private let title: String
  private var parts: [String] = []

  private static let (left, right, top, bottom) = (70.0, 700.0, 50.0, 310.0)

  init(title: String) { self.title = title }

  /// A place in the diagram: both from 0 to 1, y upwards.
  func place(x: Double, y: Double) -> (x: Double, y: Double) {
    (Self.left + x * (Self.right - Self.left), Self.bottom - min(1, max(0, y)) * (Self.bottom - Self.top))
  }

  mutating func addLevel(_ y: Double, _ label: String) {
    let height = place(x: 0, y: y).y
    parts.append(
      "<line x1=\"\(Self.left)\" x2=\"\(Self.right)\" y1=\"\(Self.text(height))\" y2=\"\(Self.text(height))\" stroke=\"#ddd\"/>"
    )
    add(label, x: Self.left - 8, y: height + 4, anchor: "end")
  }

  mutating func addLine(_ points: [(x: Double, y: Double)]) {
    let text = points.map { "\(Self.text($0.x)),\(Self.text($0.y))" }.joined(separator: " ")
    parts.append("<polyline points=\"\(text)\" fill=\"none\" stroke=\"#1565c0\" stroke-width=\"2\"/>")
  }

  /// Bars side by side, with labels below as many as there is room for.
  mutating func addBars(_ bars: [(label: String, height: Double)]) {
    let each = 1 / Double(max(1, bars.count))
    let labelled = max(1, (bars.count + 11) / 12)
    for (index, bar) in bars.enumerated() {
      let start = place(x: Double(index) * each, y: bar.height)
      let width = max(1, each * (Self.right - Self.left) - 2)
      parts.append(
        "<rect x=\"\(Self.text(start.x))\" y=\"\(Self.text(start.y))\" width=\"\(Self.text(width))\" "
          + "height=\"\(Self.text(Self.bottom - start.y))\" fill=\"#1565c0\"/>")
      if index % labelled == 0 { add(bar.label, x: start.x, y: Self.bottom + 20, anchor: "start") }
    }
  }

  mutating func addBelow(left: String, right: String) {
    add(left, x: Self.left, y: Self.bottom + 20, anchor: "start")
    add(right, x: Self.right, y: Self.bottom + 20, anchor: "end")
  }

  private mutating func add(_ text: String, x: Double, y: Double, anchor: String) {
    parts.append(
      "<text x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" text-anchor=\"\(anchor)\">\(Self.escaped(text))</text>")
  }

  var text: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 360" font-family="sans-serif" font-size="12" fill="#222">
    <title>\(Self.escaped(title))</title>
    <rect width="720" height="360" fill="#fff"/>
    <text x="20" y="28" font-size="15">\(Self.escaped(title))</text>
    \(parts.joined(separator: "\n"))
    </svg>

    """
  }

  /// With one digit behind the point.
  private static func text(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.printable {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
    return result
  }
}
