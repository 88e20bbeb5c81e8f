/// One committed order: barriers by their versions, and every section the fold of those up to its own.
///
/// A single write does not tell its version; it is known once somebody has read the value with its version. Keys that
/// only barriers write are folded exactly. Of other keys a section is held to the writes that are known: it must show
/// none beyond its version, and none that a known one had replaced by then.
struct VersionOrder {
  private struct Change {
    var version: UInt64
    var value: UInt64
    var operation: Int
  }

  private let operations: [Operation]
  /// Who wrote a value: the operation.
  private var writers: [UInt64: Int] = [:]
  /// Versions of operations that took effect: a barrier's own, a single write's as somebody read it.
  private var versions: [Int: UInt64] = [:]
  /// By key, in the order of versions.
  private var changes: [Int: [Change]] = [:]
  /// Keys that single writes changed.
  private var isPartlyKnown: Set<Int> = []
  private var found: [String] = []

  init(_ operations: [Operation]) { self.operations = operations }

  mutating func problems() -> [String] {
    nameWriters()
    witness()
    fold()
    witnessAbsence()
    checkDistinctVersions()
    for index in operations.indices { checkReads(index) }
    checkRealTime()
    checkReplicas()
    return found
  }

  // MARK: - What is known

  private mutating func nameWriters() {
    for (index, operation) in operations.enumerated() {
      for access in operation.accesses {
        guard let write = access.write else { continue }
        if write != 0, let other = writers.updateValue(index, forKey: write), other != index {
          found.append("value \(write) is written twice: this is no history")
        }
        if operation.kind == .single, operation.outcome != .undone { isPartlyKnown.insert(access.key) }
      }
      if operation.kind == .barrier, operation.outcome == .done { versions[index] = operation.version }
    }
  }

  /// Every value that was read has a writer that may be seen; a pending one that was seen has happened. Seen also by a
  /// barrier that was undone: what it read was committed. (A single operation that was undone may not have looked.)
  private mutating func witness() {
    for (reader, operation) in operations.enumerated() where operation.outcome != .undone || operation.kind == .barrier
    {
      for access in operation.accesses {
        guard case .equals(let value) = access.condition, value != 0, access.write == nil else { continue }
        guard let writer = writers[value] else {
          found.append("\(operation) read \(value), which nobody wrote")
          continue
        }
        if writer == reader { continue }
        noteWitness(reader, access, writer)
      }
    }
  }

  private mutating func noteWitness(_ reader: Int, _ access: Operation.Access, _ writer: Int) {
    let operation = operations[reader]
    let source = operations[writer]
    if !source.accesses.contains(where: { $0.key == access.key && $0.write == accessValue(access) }) {
      found.append("\(operation) found in key \(access.key) a value of \(source)")
    }
    if source.outcome == .undone { found.append("\(operation) saw something of \(source), which was undone (G2)") }
    if let end = operation.end, end < source.begin {
      found.append("\(operation) saw something of \(source), which began later")
    }
    let version = source.kind == .barrier ? source.version : access.version
    if let version, let seen = access.version, version != seen {
      found.append("\(operation) found version \(seen) in key \(access.key), of \(source)")
    }
    guard let version, source.outcome != .undone else { return }
    if let known = versions.updateValue(version, forKey: writer), known != version {
      found.append("\(source) was seen as version \(known) and as version \(version)")
    }
  }

  private func accessValue(_ access: Operation.Access) -> UInt64? {
    if case .equals(let value) = access.condition { return value }
    return nil
  }

  /// G3, and that a version which was undone is not given again.
  private mutating func checkDistinctVersions() {
    var owners: [UInt64: Int] = [:]
    for (index, operation) in operations.enumerated() {
      let isUndoneBarrier = operation.kind == .barrier && operation.outcome == .undone
      guard let version = versions[index] ?? (isUndoneBarrier ? operation.version : nil) else { continue }
      if let other = owners.updateValue(index, forKey: version) {
        found.append("version \(version) is of both \(operations[other]) and \(operation) (G3)")
      }
    }
  }

  /// Nobody can see who removed a key. A key that only barriers write, and that is absent where the fold holds a
  /// value, is taken for the removal by a pending barrier, if there is one: it has happened then, in all its keys.
  private mutating func witnessAbsence() {
    while let removal = unexplainedRemoval() {
      versions[removal] = operations[removal].version
      fold()
    }
  }

  private func unexplainedRemoval() -> Int? {
    var removals: [Int: [Int]] = [:]
    for (index, operation) in operations.enumerated() {
      guard operation.kind == .barrier, operation.outcome == .pending, versions[index] == nil else { continue }
      for access in operation.accesses where access.write == 0 { removals[access.key, default: []].append(index) }
    }
    if removals.isEmpty { return nil }
    for operation in operations where operation.kind != .single {
      guard let shown = operation.kind == .barrier ? operation.version.map({ $0 - 1 }) : operation.version else {
        continue
      }
      var written: Set<Int> = []
      for access in operation.accesses {
        if let candidates = removals[access.key], access.condition == .equals(0), !written.contains(access.key),
          !isPartlyKnown.contains(access.key), let known = last(access.key, upTo: shown), known.value != 0
        {
          let fitting = candidates.filter { (known.version + 1..<shown + 1).contains(operations[$0].version ?? 0) }
          if let newest = fitting.max(by: { operations[$0].version! < operations[$1].version! }) { return newest }
        }
        if access.write != nil { written.insert(access.key) }
      }
    }
    return nil
  }

  private mutating func fold() {
    changes = [:]
    for (index, version) in versions {
      var last: [Int: UInt64] = [:]
      for access in operations[index].accesses {
        if let write = access.write { last[access.key] = write }
      }
      for (key, value) in last {
        changes[key, default: []].append(Change(version: version, value: value, operation: index))
      }
    }
    for key in changes.keys { changes[key]!.sort { $0.version < $1.version } }
  }

  /// The last known change of a key up to a version.
  private func last(_ key: Int, upTo version: UInt64) -> Change? {
    guard let changes = changes[key] else { return nil }
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].version <= version { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : changes[low - 1]
  }

  // MARK: - Sections and barriers

  private mutating func checkReads(_ index: Int) {
    let operation = operations[index]
    guard let version = operation.version else { return }
    switch operation.kind {
    case .single: break
    case .section, .laterSection:
      for access in operation.accesses { check(access, of: operation, at: version) }
    case .barrier:
      var own: [Int: UInt64] = [:]
      for access in operation.accesses {
        if let written = own[access.key] {
          if !access.condition.holds(written) {
            found.append("\(operation) read \(access), after it had written \(written) there itself")
          }
        } else {
          check(access, of: operation, at: version - 1)
        }
        if let write = access.write { own[access.key] = write }
      }
    }
  }

  /// Does the access show what the fold up to `version` holds?
  private mutating func check(_ access: Operation.Access, of operation: Operation, at version: UInt64) {
    let known = last(access.key, upTo: version)
    guard case .equals(let value) = access.condition else { return }
    let expected = known?.value ?? 0
    if value == expected { return }
    if !isPartlyKnown.contains(access.key) {
      let whose = known.map { " by \(operations[$0.operation])" } ?? ""
      found.append("\(operation) read \(access), which at version \(version) was \(expected)\(whose) (G1)")
      return
    }
    // A single removal's version is never known, and the value may be of a write whose version is not.
    guard value != 0, let seen = writers[value].flatMap({ versions[$0] }) else { return }
    if seen > version { found.append("\(operation) read \(access), which is of the later version \(seen) (G1)") }
    if let known, known.version > seen, seen <= version {
      found.append("\(operation) read \(access) of version \(seen), replaced in version \(known.version) (G1)")
    }
  }

  // MARK: - Real time

  /// G4: what ended before another began is of a smaller version, or shows no later one.
  private mutating func checkRealTime() {
    let shown = { [self] (index: Int) in versionShown(index) }
    forEachInTime(Array(operations.indices), shown: shown) { operation, version, newest, other in
      if let version, version <= newest {
        return "\(operation) took effect as version \(version), after \(newest) was seen by \(other) (G4)"
      }
      guard operation.kind == .section, operation.outcome == .done, let version = operation.version, version < newest
      else { return nil }
      return "\(operation) shows version \(version), after \(newest) was seen by \(other) (G4)"
    }
  }

  /// A copy of the table may be behind it, and never goes back: not behind what a section of the same copy has shown, nor behind a
  /// barrier that was to be seen there when it returned.
  private mutating func checkReplicas() {
    let replicas = Dictionary(grouping: operations.indices.filter { operations[$0].replica != nil }) {
      operations[$0].replica!
    }
    for (replica, indices) in replicas.sorted(by: { $0.key < $1.key }) {
      let shown = { [operations] (index: Int) in operations[index].outcome == .done ? operations[index].version : nil }
      forEachInTime(indices, shown: shown) { operation, _, newest, other in
        guard operation.kind == .laterSection, let version = operation.version, version < newest else { return nil }
        return "\(operation) shows version \(version), after copy \(replica) had shown \(newest) to \(other)"
      }
    }
  }

  /// Visits operations in the order in which they began.
  /// - Parameters:
  ///   - shown: the version that an operation which returned has shown to be there.
  ///   - problem: is told an operation, the version that it took effect as, the newest version that was shown before it began, and by
  ///     which operation.
  private mutating func forEachInTime(
    _ indices: [Int], shown: (Int) -> UInt64?,
    _ problem: (Operation, UInt64?, _ newest: UInt64, _ other: Operation) -> String?
  ) {
    let ended = indices.filter { operations[$0].end != nil }.sorted { operations[$0].end! < operations[$1].end! }
    var next = 0
    var newest: UInt64 = 0
    var newestIndex = 0
    for index in indices.sorted(by: { operations[$0].begin < operations[$1].begin }) {
      let operation = operations[index]
      while next < ended.count, operations[ended[next]].end! < operation.begin {
        if let shown = shown(ended[next]), shown > newest { (newest, newestIndex) = (shown, ended[next]) }
        next += 1
      }
      if let text = problem(operation, versions[index], newest, operations[newestIndex]) { found.append(text) }
    }
  }

  /// The newest version that an operation which returned proves to be committed.
  private func versionShown(_ index: Int) -> UInt64? {
    let operation = operations[index]
    if let version = versions[index] { return version }
    guard operation.outcome == .done else { return nil }
    if operation.kind != .single { return operation.version }
    return operation.accesses.compactMap(\.version).max()
  }
}
