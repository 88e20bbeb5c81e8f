import SharedMemory
import TableEngine

/// A table's words as the watcher saw them in one step: what all who wait are judged by is what is slept on.
struct SeenWords {
  private let segment: Segment
  private var committed: UInt64?
  private var durable: UInt64?

  init(_ segment: Segment) { self.segment = segment }

  /// Whether what is waited for has come, or will not.
  mutating func showEnd(of goal: Watch.Goal) -> Bool {
    switch goal {
    case .commit(let version):
      let newest = committed ?? segment.committed
      committed = newest
      return newest > version
    case .disk(let version):
      // Before the look, so that a store that gets on meanwhile ends the sleep.
      durable = durable ?? segment.durable
      return (try? segment.isDurable(version)) != false
    }
  }

  /// Whether whoever sleeps on these words wakes when a version above this one is committed.
  func showNext(after version: UInt64) -> Bool { committed.map { $0 <= version } ?? false }

  func announceWait() {
    if let committed { segment.announceWait(after: committed) }
  }

  func append(to events: inout [(FutexEvent, UInt32)]) {
    if let committed { events.append((segment.commitEvent, UInt32(truncatingIfNeeded: committed))) }
    if let durable { events.append((segment.durableEvent, UInt32(truncatingIfNeeded: durable))) }
  }
}
