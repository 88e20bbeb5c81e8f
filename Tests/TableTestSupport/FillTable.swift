import SharedTable

/// Stores keys of its own, those with the longest values first, until the table takes none of any length.
public func fillInEverySize(_ table: Table) throws {
  var lengths = [4000]
  // Closer to each other than the sizes of blocks, which differ by 16 bytes or an eighth.
  while let last = lengths.last, last > 0 { lengths.append(max(0, last - max(16, last / 10))) }
  var number = 0
  var storedBefore = -1
  // The barrier after a refused one may make room by a compaction. So the table is full only when it has refused all lengths in turn.
  while number > storedBefore {
    storedBefore = number
    for length in lengths {
      let value = [UInt8](repeating: 1, count: length)
      while true {
        do throws(TableError) { try table.set("filling \(number)", value) } catch {
          guard error.code == .full else { throw error }
          break
        }
        number += 1
      }
    }
  }
}

/// Removes what ``fillInEverySize(_:)`` has stored.
public func removeFilling(_ table: Table) throws {
  for key in try table.read({ view in try view.keys(prefix: "filling ") }) {
    try table.barrier { tx in _ = try tx.remove(key) }
  }
}
