import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

/// Counts a visit, in three attempts at most; says which process is in the way.
func countVisit(by user: String, in table: Table) throws {
  for attempt in 1...3 {
    do {
      return try table.barrier { tx in
        try tx.increment("visits")
        try tx.set("last", user)
      }
    } catch let error as TableError where error.code == .timedOut && attempt < 3 {
      if let holder = error.holder { print("\(holder.command) (pid \(holder.pid)) is in the way") }
    }
  }
}
