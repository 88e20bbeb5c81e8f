import SharedTable
import TestSupport

/// Values come and go, and their sizes drift from 100 bytes to 25 KB and back, twice. Before each set so much is deleted at
/// random that keys and values, with 48 bytes of bookkeeping each, never take more than `percent` of the table.
/// - Returns: the share of the sets that found room.
func shareStoredInDrift(_ variant: Table.Variant, percent: Int, mebibytes: Int) throws -> Double {
  let capacity = mebibytes << 20
  let table = try Table.temporary(variant: variant, capacityBytes: capacity)
  var generator = SplitMix(seed: 3)
  var live: [(key: String, bytes: Int)] = []
  var liveBytes = 0
  var written = 0
  var sets = 0
  var stored = 0
  while written < 8 * capacity {
    let key = "key \(sets)"
    let size = driftingSize(at: Double(written) / Double(4 * capacity), &generator)
    while liveBytes + key.utf8.count + size + 48 > capacity / 100 * percent {
      live.swapAt(generator.below(live.count), live.count - 1)
      let gone = live.removeLast()
      _ = try table.remove(gone.key)
      liveBytes -= gone.bytes
    }
    sets += 1
    written += size
    do throws(TableError) {
      try table.set(key, [UInt8](repeating: UInt8(truncatingIfNeeded: sets), count: size))
      stored += 1
      live.append((key, key.utf8.count + size + 48))
      liveBytes += key.utf8.count + size + 48
    } catch {
      guard error.code == .full else { throw error }
    }
  }
  let problems = try table.check()
  precondition(problems.isEmpty, "the table is damaged: \(problems)")
  return Double(stored) / Double(sets)
}

/// Within an octave around a mean that goes up eight octaves and down again in each turn.
private func driftingSize(at turn: Double, _ generator: inout SplitMix) -> Int {
  let phase = turn - turn.rounded(.down)
  let octave = Int(8 * (phase < 0.5 ? 2 * phase : 2 - 2 * phase))
  return min(100 << octave + generator.below(100 << octave), 25_000)
}
