/// Which bytes of a struct its fields take; those between them are padding.
struct CoveredBytes {
  private var ranges: [Range<Int>] = []

  mutating func add(_ range: Range<Int>) {
    if let last = ranges.last, last.upperBound == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
    } else {
      ranges.append(range)
    }
  }

  /// Adds others, each so far behind its place.
  mutating func add(_ others: CoveredBytes, shiftedBy offset: Int) {
    for range in others.ranges { add(range.lowerBound + offset..<range.upperBound + offset) }
  }

  /// - Parameter size: of the whole struct.
  func padding(size: Int) -> [Range<Int>] {
    var padding: [Range<Int>] = []
    var end = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > end { padding.append(end..<range.lowerBound) }
      end = max(end, range.upperBound)
    }
    if end < size { padding.append(end..<size) }
    return padding
  }
}
