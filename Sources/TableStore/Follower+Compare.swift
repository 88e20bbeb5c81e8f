import TableEngine

/// A store is compared with its table where the log does not tell what changed: after an overrun, or for a new file.
///
/// The table is walked a few thousand keys a section, so that no section lasts. What changes behind the walk is in the log, and is
/// looked at once more in the end, in one section at a version S. All of it is one transaction: it makes the store the table at S,
/// and until its commit the store is what it was.
extension Follower {
  private static let keysAtOnce = 2048
  private static let bytesAtOnce = 1 << 20

  func compare() throws(StoreError) {
    isComparing = true
    defer { isComparing = false }
    do throws(StoreError) {
      restartLog()
      let version: UInt64
      if let store {
        version = try store.database.inTransaction { () throws(StoreError) in
          try store.mergeRecent()
          let version = try bring(store, isNew: false)
          try store.bind(to: segment.uuid, applied: version)
          // A comparison that finds nothing different might write nothing.
          if mustProve { try store.commitAgain() }
          return version
        }
        store.emptied()
        note(.compared)
      } else {
        let store = try Store.create(
          table.name, in: directory, uuid: segment.uuid, isMirror: table.isMirror, replacing: brokenGeneration,
          disk: disk
        ) { store throws(StoreError) in try bring(store, isNew: true) }
        version = store.applied
        self.store = store
        brokenGeneration = nil
        note(.newFile)
      }
      forgetPending(upTo: version)
      try publish(version)
    } catch {
      mustCompare = true
      throw error
    }
  }

  /// Makes `kv` the table, in the open transaction.
  /// - Returns: at which version.
  private func bring(_ store: Store, isNew: Bool) throws(StoreError) -> UInt64 {
    var scan = ScanCursor()
    while !scan.isAtEnd {
      for entry in try copyNext(&scan) {
        if !isNew, try store.version(of: entry.key) == entry.version { continue }
        try store.merge(entry)
      }
      try follow(store)
    }
    if !isNew { try removeAbsent(store) }
    guard let (entries, version) = try copyPending(), !mustCompare else { throw overtaken(store) }
    for entry in entries { try store.merge(entry) }
    return version
  }

  /// The next keys of the table, in a section of their own.
  private func copyNext(_ scan: inout ScanCursor) throws(StoreError) -> [StoredEntry] {
    let section = try reading { () throws(EngineError) in
      try segment.beginRead(timeoutNanoseconds: Self.sectionNanoseconds, now: 0)
    }
    defer { segment.endRead(section) }
    var entries: [StoredEntry] = []
    var bytes = 0
    repeat {
      try reading { () throws(EngineError) in
        try segment.scan(&scan, section, clock) { found in
          let entry = unsafe StoredEntry(key: [UInt8](found.key), found: found)
          bytes += entry.value?.count ?? 0
          entries.append(entry)
          return true
        }
      }
    } while !scan.isAtEnd && entries.count < Self.keysAtOnce && bytes < Self.bytesAtOnce
    return entries
  }

  /// Removes what the table does not have any more.
  private func removeAbsent(_ store: Store) throws(StoreError) {
    var keys = try store.keys(after: [], atMost: Self.keysAtOnce)
    while let last = keys.last {
      let section = try reading { () throws(EngineError) in
        try segment.beginRead(timeoutNanoseconds: Self.sectionNanoseconds, now: 0)
      }
      var absent: [StoredEntry] = []
      do throws(StoreError) {
        for key in keys {
          let found = try unsafe key.withBytes { bytes throws(StoreError) in
            try reading { () throws(EngineError) in try unsafe segment.find(bytes, section, clock) }
          }
          if found == nil { absent.append(StoredEntry(key: key, found: nil)) }
        }
      } catch {
        segment.endRead(section)
        throw error
      }
      segment.endRead(section)
      for entry in absent { try store.merge(entry) }
      try follow(store)
      keys = try store.keys(after: last, atMost: Self.keysAtOnce)
    }
  }

  private func follow(_ store: Store) throws(StoreError) {
    try collect()
    if mustCompare { throw overtaken(store) }
  }

  private func overtaken(_ store: Store) -> StoreError {
    StoreError(
      .overtaken, store.path,
      "the table changed faster than it could be compared with its store; it is tried again, and a larger capacity gives it a "
        + "longer log")
  }
}
