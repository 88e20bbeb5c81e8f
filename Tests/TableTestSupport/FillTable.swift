import SharedTable

/// Stores keys of its own, those with the longest values first, until the table takes none of any length.
public func fillInEverySize(_ table: Table) throws {
  var number = 0
  var lengths = [4000]
  // Closer to each other than the sizes of blocks.
  while let last = lengths.last, last > 0 { lengths.append(max(0, last - max(16, last / 32))) }
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

/// Removes what ``fillInEverySize(_:)`` has stored.
public func removeFilling(_ table: Table) throws {
  for key in try table.read({ view in try view.keys(prefix: "filling ") }) {
    try table.barrier { tx in _ = try tx.remove(key) }
  }
}
