/// An executable model of the order that a GCD concurrent queue promises: says of a history whether it admits it.
///
/// A history is what was submitted, by whom, and when it ran, in ticks of one counter. One rule says it all: there is
/// an *order of submission* that agrees with what the submitters know of it, in which barriers run alone, after
/// everything before them and before everything after them. Reads between two barriers may run in any order and side by
/// side.
///
/// Barriers that overlap nothing cut time into *epochs*, so each section has a rank in any such order: a read 2 *
/// (barriers that ended before it began), the n-th barrier 2 * n + 1. If what is known to have been submitted first has
/// never the higher rank, then submission by rank (and within a rank as known) is such an order; if it has, there is
/// none.
struct OrderHistory {
  struct Item: Sendable {
    var isBarrier: Bool
    var isSync: Bool
    /// Tick before the call that submitted it.
    var called: Int
    /// Tick after that call returned.
    var returned: Int
    var begin: Int
    var end: Int
    /// How many barriers it saw done.
    var seen: Int
    var ranOnCaller: Bool

    /// From when on it was certainly submitted: a synchronous one had its place when it began.
    var submitted: Int { isSync ? begin : min(returned, begin) }
  }

  var items: [Item]

  /// What is wrong with it; empty if it is admitted.
  var violations: [String] {
    var found: [String] = []
    for (index, item) in items.enumerated() {
      if !(item.called < item.begin && item.begin < item.end) { found.append("\(index) did not run in time") }
      if item.isSync, item.end >= item.returned { found.append("\(index) returned before its end") }
      if item.isSync, !item.ranOnCaller { found.append("\(index) did not run on the calling thread") }
    }
    let barriers = items.indices.filter { items[$0].isBarrier }.sorted { items[$0].begin < items[$1].begin }
    for (barrier, index) in zip(barriers, barriers.indices) {
      for other in items.indices where other != barrier {
        let (a, b) = (items[barrier], items[other])
        if a.begin < b.end && b.begin < a.end && (!b.isBarrier || barrier < other) {
          found.append("barrier \(barrier) and \(other) overlap")
        }
      }
      if items[barrier].seen != index { found.append("barrier \(barrier) saw \(items[barrier].seen), not \(index)") }
    }
    if !found.isEmpty { return found }

    let ends = barriers.map { items[$0].end }
    var rank = [Int](repeating: 0, count: items.count)
    for (index, barrier) in barriers.enumerated() { rank[barrier] = 2 * index + 1 }
    for index in items.indices where !items[index].isBarrier {
      let before = ends.count { $0 < items[index].begin }
      rank[index] = 2 * before
      if items[index].seen != before { found.append("read \(index) saw \(items[index].seen), not \(before)") }
    }
    for first in items.indices {
      for second in items.indices where items[first].submitted < items[second].called {
        if rank[first] > rank[second] { found.append("\(second) ran before \(first), submitted earlier") }
      }
    }
    return found
  }
}

extension OrderHistory.Item {
  static func read(sync: Bool = false, _ called: Int, _ returned: Int, _ begin: Int, _ end: Int, seen: Int) -> Self {
    Self(
      isBarrier: false, isSync: sync, called: called, returned: returned, begin: begin, end: end, seen: seen,
      ranOnCaller: sync)
  }
  static func barrier(sync: Bool = false, _ called: Int, _ returned: Int, _ begin: Int, _ end: Int, seen: Int) -> Self {
    Self(
      isBarrier: true, isSync: sync, called: called, returned: returned, begin: begin, end: end, seen: seen,
      ranOnCaller: sync)
  }
}
