/// What several processes did to one table, and whether a table that keeps its promises can have answered so.
///
/// Two checks that complete each other: each key by itself is a linearizable register (G4), and there is one order of
/// commits, by version, of which every section shows a prefix (G1–G4).
public struct History {
  let operations: [Operation]

  public init(_ operations: [Operation]) { self.operations = operations }

  public var keyCount: Int { Set(operations.flatMap { $0.accesses.map(\.key) }).count }
  public var pendingCount: Int { operations.count { $0.outcome == .pending } }

  /// What no such table can have answered, one sentence each; empty if all is well.
  public func problems() -> [String] {
    var versions = VersionOrder(operations)
    return versions.problems() + keyProblems()
  }

  private func keyProblems() -> [String] {
    var steps: [Int: [Register.Step]] = [:]
    for (index, operation) in operations.enumerated() {
      // An older snapshot's values are no news; what was undone took no effect, which VersionOrder looks at.
      guard operation.kind != .laterSection, operation.outcome != .undone else { continue }
      for step in operation.steps(index) { steps[step.key, default: []].append(step.step) }
    }
    var problems: [String] = []
    for (key, steps) in steps.sorted(by: { $0.key < $1.key }) {
      switch Register.check(steps) {
      case .linearizable: break
      case .impossible(let index): problems.append("key \(key) is no register at \(operations[index]) (G4)")
      case .undecided: problems.append("key \(key): too many operations at once to decide")
      }
    }
    return problems
  }
}

extension Operation {
  /// What this operation is to each of its keys by itself: what it found there first, and what it left.
  fileprivate func steps(_ index: Int) -> [(key: Int, step: Register.Step)] {
    var steps: [(key: Int, step: Register.Step)] = []
    for access in accesses {
      if let known = steps.firstIndex(where: { $0.key == access.key }) {
        if let write = access.write { steps[known].step.write = write }
        continue
      }
      let step = Register.Step(
        operation: index, begin: begin, end: end, condition: access.condition, write: access.write)
      steps.append((access.key, step))
    }
    return steps
  }
}
