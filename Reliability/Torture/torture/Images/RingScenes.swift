import CShims
import CTrace
import SharedTable
import TableEngine

/// A table whose rings are nearly full of what a snapshot keeps.
extension Scene {
  /// A barrier that needs more room in the rings than they have left: they double.
  mutating func doublingRings() throws -> () throws -> Void {
    for index in 0..<4400 { try setSmall(index, round: 0) }
    // The rings' counters go on from these records: the last ones of *retained* then get another place when it doubles.
    for _ in 1..<ImageOperation.rings.snapshots {
      ct_mark(Marker.snapshot, 0)
      for index in 0..<325 { try setSmall(index, round: 0) }
      while try table.administration.maintain() == true {}
    }
    ct_mark(Marker.snapshot, 0)
    while try table.administration.maintain() == true {}
    let control = WatchedTable(table.name).control
    var count = 0
    while Self.roomInRings(control) > 2 * Self.putsToDouble {
      guard count < 4400 else { throw Unavailable("the rings do not fill") }
      try setSmall(count, round: 1)
      count += 1
    }
    let retained = ControlLayout.retained
    guard control.word(retained + shm_ring_tail_offset) > control.word(retained + shm_ring_mask_offset) + 100 else {
      throw Unavailable("doubling moves no record")
    }
    let changes: [Change] = (count..<count + Self.putsToDouble).map { (Self.smallKey($0), [2]) }
    expect(changes)
    let table = table
    return {
      try table.barrier { (tx: inout Transaction) in
        for (key, value) in changes { try tx.set(key, value!) }
      }
    }
  }

  /// A put has two records in the journal. Room is claimed for twice as many, and a put before these claims less than they do.
  private static let putsToDouble = 20

  /// Records that fit beside those of all rings together.
  private static func roomInRings(_ control: WatchedObject) -> Int {
    _ = control.refresh()
    let kept = [ControlLayout.limbo, ControlLayout.superseded, ControlLayout.retained].map { header in
      control.word(header + shm_ring_tail_offset) - control.word(header + shm_ring_head_offset)
    }
    return Int(control.word(ControlLayout.limbo + shm_ring_mask_offset) - kept.reduce(0, +))
  }

  private static func smallKey(_ index: Int) -> [UInt8] { Array("s\(index)".utf8) }

  private mutating func setSmall(_ index: Int, round: UInt8) throws {
    try table.set(Self.smallKey(index), [round])
    model[Self.smallKey(index)] = [round]
  }
}
