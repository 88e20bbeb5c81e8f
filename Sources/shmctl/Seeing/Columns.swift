import ToolSupport

/// Rows of text under headings, each column as wide as its widest cell.
struct Columns {
  enum Side {
    case left, right
  }

  private let headings: [String]
  private let sides: [Side]
  private var rows: [[String]] = []

  init(_ columns: [(heading: String, side: Side)]) {
    headings = columns.map(\.heading)
    sides = columns.map(\.side)
  }

  mutating func add(_ cells: [String]) { rows.append(cells.map(StandardError.printable)) }

  var isEmpty: Bool { rows.isEmpty }

  /// The headings first. The last column is not padded.
  var text: String { lines.map { $0 + "\n" }.joined() }

  var lines: [String] {
    let all = [headings] + rows
    let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { cells in
      let padded = cells.indices.map { column in
        let room = String(repeating: " ", count: widths[column] - cells[column].count)
        return sides[column] == .right ? room + cells[column] : cells[column] + room
      }
      return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }
  }
}
