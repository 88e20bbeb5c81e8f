/// Rows of `recent` in the order in which they are merged, sorted a run at a time: nothing here takes as long as all of them.
struct SortedRuns {
  /// By which a row is sorted: a part of its key, and then its number.
  typealias Row = (word: UInt64, sequence: UInt64)

  private struct Run {
    var rows: [Row]
    var next = 0

    var first: Row { rows[next] }
  }

  /// A heap: each run's first row comes before those of its two children. None is empty.
  private var runs: [Run] = []

  var isEmpty: Bool { runs.isEmpty }

  /// Adds a run, whose rows are in any order.
  mutating func add(_ rows: [Row]) {
    if rows.isEmpty { return }
    runs.append(Run(rows: rows.sorted(by: <)))
    var index = runs.count - 1
    while index > 0, isBefore(index, (index - 1) / 2) {
      runs.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Takes out the first row of all.
  /// - Returns: its number; nil if there is none.
  mutating func popFirst() -> UInt64? {
    guard let sequence = runs.first?.first.sequence else { return nil }
    runs[0].next += 1
    if runs[0].next == runs[0].rows.count {
      runs.swapAt(0, runs.count - 1)
      runs.removeLast()
    }
    sink()
    return sequence
  }

  /// Brings the topmost run to its place.
  private mutating func sink() {
    var index = 0
    while true {
      var first = index
      for child in [2 * index + 1, 2 * index + 2] where child < runs.count && isBefore(child, first) { first = child }
      if first == index { return }
      runs.swapAt(index, first)
      index = first
    }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool { runs[one].first < runs[other].first }
}
