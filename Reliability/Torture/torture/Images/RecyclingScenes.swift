import SharedTable

/// Tables of which the next puts take blocks of superseded versions as they are.
extension Scene {
  /// Keys of which each is changed before a part that is taken back, in it, and partly after it.
  mutating func recycling(aborted: Bool) throws -> () throws -> Void {
    try overwriteUntilBlocksAreTaken()
    // A size that does not fit, between those that do.
    let first: [Change] = [
      (Self.key(20), Self.value(20, round: 70)), (Self.key(21), Self.value(24, round: 71)),
      (Self.key(20), Self.value(20, round: 72)), (Self.key(6000), Self.value(20, round: 73)),
    ]
    let part: [Change] = (22..<26).map { (Self.key($0), Self.value(20, round: 74)) } + [(Self.key(26), nil)]
    let after: [Change] = (26..<30).map { (Self.key($0), Self.value($0, round: 75)) }
    return inBarrier(first, part: part, aborted: aborted, after: after)
  }

  /// One key more of a table that others have left: two commits that reclaim have to come before a tombstone's block may be taken. The
  /// values are of one size, so that most of their slabs have room already.
  mutating func removingAfterRemovals() throws -> () throws -> Void {
    var keys = Array(stride(from: 4000, to: 9600, by: 2))
    for key in keys { try set(key, round: 20) }
    let work = table.segment.work!
    let before = work.blocksRecycled
    while keys.count > 1, work.blocksRecycled < before + 10 { try remove(keys.removeFirst()) }
    let key = Self.key(keys[0])
    expect([(key, nil)])
    let (table, recycled, freed) = (table, work.blocksRecycled, work.blocksFreed)
    return {
      _ = try table.remove(key)
      guard work.blocksRecycled == recycled + 1, work.blocksFreed == freed + 1 else {
        throw Unavailable("the removal takes no tombstone's block behind a value's")
      }
    }
  }

  /// A commit that reclaims leaves to the next writes what they may take.
  private mutating func overwriteUntilBlocksAreTaken() throws {
    let work = table.segment.work!
    let before = work.blocksRecycled
    for round in 0..<6000 where work.blocksRecycled < before + 10 {
      try set(20 + round % 7 % 3, round: round % 100)
    }
    guard work.blocksRecycled >= before + 10 else { throw Unavailable("no put takes a block of what was superseded") }
  }
}
