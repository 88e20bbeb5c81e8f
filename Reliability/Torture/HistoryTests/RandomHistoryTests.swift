import TestSupport
import Testing

@testable import History

/// Histories by the thousand, of a table that is right; and small ones beside a search without any wit.
@Suite struct RandomHistoryTests {
  /// A table in one thread: each operation takes effect at once, and is told with an interval around that moment.
  private struct Simulation {
    var generator: SplitMix
    let keys: Int
    var state: [Int: UInt64] = [:]
    var written: [Int: UInt64] = [:]
    var version: UInt64 = 1
    var nextValue: UInt64 = 10
    var now: UInt64 = 1000
    var held: (version: UInt64, state: [Int: UInt64])?
    var operations: [Operation] = []

    mutating func step(overlap: Int) {
      now += 10
      let begin = now - UInt64(generator.below(overlap))
      let end = now + UInt64(generator.below(overlap))
      let isKilled = generator.below(40) == 0
      var operation: Operation
      switch generator.below(10) {
      case ..<3: operation = get()
      case ..<5: operation = write(isKilled)
      case ..<6: operation = conditional(isKilled)
      case ..<8: operation = barrier(isKilled)
      default: operation = section()
      }
      operation.begin = begin
      operation.end = isKilled ? nil : end
      if isKilled, operation.outcome == .done { operation.outcome = .pending }
      operations.append(operation)
    }

    private mutating func key() -> Int { generator.below(keys) }

    private mutating func value() -> UInt64 {
      nextValue += 1
      return nextValue
    }

    private func value(_ key: Int) -> UInt64 { state[key] ?? 0 }

    private func blank(_ kind: Operation.Kind, _ accesses: [Operation.Access]) -> Operation {
      .init(process: 0, kind, begin: 0, end: 0, accesses)
    }

    private mutating func commit(_ writes: [Int: UInt64]) {
      version += 1
      for (key, value) in writes {
        state[key] = value
        written[key] = version
      }
    }

    private mutating func get() -> Operation {
      let key = key()
      let version = value(key) == 0 || generator.below(2) == 0 ? nil : written[key]
      return blank(.single, [.init(key: key, .equals(value(key)), version: version)])
    }

    private mutating func write(_ isKilled: Bool) -> Operation {
      let key = key()
      let new = value()
      if !isKilled || generator.below(2) == 0 { commit([key: new]) }
      return blank(.single, [.init(key: key, write: new)])
    }

    private mutating func conditional(_ isKilled: Bool) -> Operation {
      let key = key()
      let (condition, new): (Operation.Condition, UInt64) =
        generator.below(2) == 0 ? (.differs(0), 0) : (.equals(value(self.key())), value())
      guard condition.holds(value(key)) else {
        return blank(.single, [.init(key: key, isKilled ? condition : condition.negation, write: isKilled ? new : nil)])
      }
      if !isKilled || generator.below(2) == 0 { commit([key: new]) }
      return blank(.single, [.init(key: key, condition, write: new)])
    }

    private mutating func barrier(_ isKilled: Bool) -> Operation {
      var writes: [Int: UInt64] = [:]
      var accesses: [Operation.Access] = []
      for _ in 0...generator.below(4) {
        let key = key()
        if generator.below(2) == 0 { accesses.append(.init(key: key, .equals(writes[key] ?? value(key)))) }
        writes[key] = generator.below(4) == 0 ? 0 : value()
        accesses.append(.init(key: key, write: writes[key]))
      }
      var operation = blank(.barrier, accesses)
      operation.version = version + 1
      if generator.below(5) == 0 {
        operation.outcome = .undone
        version += 1
      } else if isKilled && generator.below(2) == 0 {
        // Recovery ticks, too.
        version += 1
      } else {
        commit(writes)
      }
      return operation
    }

    private mutating func section() -> Operation {
      if let held, generator.below(3) == 0 {
        var operation = blank(.laterSection, (0..<3).map { _ in read(key(), held.state) })
        operation.version = held.version
        return operation
      }
      var operation = blank(.section, (0..<3).map { _ in read(key(), state) })
      operation.version = version
      if generator.below(4) == 0 { held = (version, state) }
      return operation
    }

    private func read(_ key: Int, _ state: [Int: UInt64]) -> Operation.Access {
      .init(key: key, .equals(state[key] ?? 0))
    }
  }

  private func history(seed: UInt64, count: Int, keys: Int, overlap: Int) -> [Operation] {
    var simulation = Simulation(generator: SplitMix(seed: seed), keys: keys)
    for _ in 0..<count { simulation.step(overlap: overlap) }
    return simulation.operations
  }

  @Test func rightHistoriesAreRightHoweverMuchHappensAtOnce() {
    for seed in 1...60 {
      let overlap = [1, 30, 100, 300][seed % 4]
      let operations = history(seed: UInt64(seed), count: 400, keys: 12, overlap: overlap)
      let problems = History(operations).problems()
      #expect(problems == [], "seed \(seed)")
    }
  }

  @Test func aSectionThatSawAnotherValueIsFound() {
    var found = 0
    for seed in 1...60 {
      var operations = history(seed: UInt64(seed), count: 200, keys: 6, overlap: 30)
      var generator = SplitMix(seed: UInt64(seed))
      // Some section's read shows what another operation wrote to the same key.
      let sections = operations.indices.filter { operations[$0].kind == .section }
      let index = sections[generator.below(sections.count)]
      let key = operations[index].accesses[0].key
      let values = operations.filter { $0.kind == .barrier && $0.outcome == .done }.flatMap(\.accesses)
        .filter { $0.key == key && .equals($0.write ?? 0) != operations[index].accesses[0].condition }
      guard let write = values.compactMap(\.write).first(where: { $0 != 0 }) else { continue }
      operations[index].accesses[0].condition = .equals(write)
      if History(operations).problems() != [] { found += 1 }
    }
    // It may have been overwritten unseen at the same time; most are no history at all.
    #expect(found > 50)
  }

  // MARK: - Beside a search of all orders

  /// Any order of the steps, or of those that returned and some that did not.
  private func isExplained(_ left: [Register.Step], _ value: UInt64 = 0) -> Bool {
    if !left.contains(where: { $0.end != nil }) { return true }
    for (index, step) in left.enumerated() {
      // Nothing that has already ended may come later.
      if left.contains(where: { ($0.end ?? .max) < step.begin }) { continue }
      guard step.condition.holds(value) else { continue }
      var rest = left
      rest.remove(at: index)
      if isExplained(rest, step.write ?? value) { return true }
    }
    return false
  }

  @Test func theSearchAgreesWithASearchOfAllOrders() {
    var counts = [true: 0, false: 0]
    for seed in 1...4000 {
      var generator = SplitMix(seed: UInt64(seed))
      let steps = (0..<6).map { index in
        let begin = UInt64(generator.below(12))
        let value = UInt64(generator.below(3))
        let condition: Operation.Condition =
          switch generator.below(4) {
          case 0: .equals(value)
          case 1: .differs(value)
          default: .always
          }
        let isRead = condition == .equals(value) && generator.below(2) == 0
        return Register.Step(
          operation: index, begin: begin, end: generator.below(5) == 0 ? nil : begin + UInt64(generator.below(6)),
          condition: generator.below(3) == 0 ? .equals(value) : condition,
          write: isRead || generator.below(3) == 0 ? nil : UInt64(generator.below(3)))
      }
      let isRight = isExplained(steps)
      counts[isRight, default: 0] += 1
      #expect((Register.check(steps) == .linearizable) == isRight, "seed \(seed): \(steps)")
    }
    #expect(counts[true]! > 400 && counts[false]! > 400)
  }
}
