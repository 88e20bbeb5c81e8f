import Synchronization

/// Divides a table among the threads that scan it together: each claims one partition after another, until all were claimed.
///
/// Partitions are ranges of hashes, in their order. One is the prefix of a sub-table, as the directory has it when a thread claims
/// it, so that a sub-table is walked once. Nothing but speed depends on that: the directory may split or be put back before the
/// partition is scanned, and each key is visited by the thread that has the partition in which its hash lies.
package final class ScanPartitioner: Sendable {
  private let segment: Segment
  private let shared: SharedSection
  private let leastDepth: Int
  /// First hash that nobody has claimed.
  private let next = Atomic<UInt64>(0)

  /// No hash that a partition begins with: their low bits are 0.
  private static var end: UInt64 { .max }

  /// - Parameter threads: how many will claim. A small table is cut finer than its sub-tables, so that all get some; not
  ///   for observers, whose walk would take the same sub-table again and again for a circle.
  package init(_ segment: Segment, _ shared: SharedSection, threads: Int) {
    self.segment = segment
    self.shared = shared
    leastDepth =
      threads == 1 || segment.access == .observer
      ? 0 : (0..<DataLayout.rootBits).first { 1 << $0 >= 4 * threads } ?? DataLayout.rootBits
  }

  /// - Returns: nil when all were claimed.
  package func claim() -> ScanPartition? {
    // Relaxed: who claims which partition is all that this word tells, and nothing is published by it.
    var first = next.load(ordering: .relaxed)
    while first != Self.end {
      var cursor = ScanCursor()
      cursor.advance(past: first, depth: max(leastDepth, depth(at: first)))
      let behind = cursor.position ?? Self.end
      let (claimed, newest) = next.compareExchange(expected: first, desired: behind, ordering: .relaxed)
      if claimed { return ScanPartition(first: first, last: behind == Self.end ? .max : behind - 1) }
      first = newest
    }
    return nil
  }

  /// The depth of the sub-table that holds a hash. What an observer finds may be any number: it is out of date, or
  /// damage, which the walk will find.
  private func depth(at hash: UInt64) -> Int {
    if segment.access == .participant { return Lookup(data: segment.data).directoryWord(hash: hash).word.bits }
    var lookup = ObserverLookup(segment, snapshot: shared.snapshot, sequence: shared.sequence)
    do throws(ObserverLookup.Inconsistent) {
      return min(try lookup.directoryWord(hash: hash).bits, SubTable.maximumDepth)
    } catch {
      return DataLayout.rootBits
    }
  }
}

extension Segment {
  /// Visits the keys whose hashes lie in a partition, as the section sees them; each exactly once, as in a scan of the whole.
  /// - Parameter body: runs on each entry, expired ones left out; returns false to stop.
  package func scan(
    _ partition: ScanPartition, _ section: ReadSection, _ clock: ExpiryClock, _ body: (FoundEntry) -> Bool
  ) throws(EngineError) {
    var cursor = ScanCursor()
    cursor.position = partition.first
    var goesOn = true
    while goesOn, let position = cursor.position, position <= partition.last {
      try scan(&cursor, section, clock) { found in
        // The sub-table reaches beyond the partition: partitions were cut finer than sub-tables, or a split was undone since.
        if unsafe hash(found.key) > partition.last { return true }
        goesOn = body(found)
        return goesOn
      }
    }
  }
}
