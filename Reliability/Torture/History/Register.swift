/// Is one key linearizable: is there an order of its operations, each at one moment between its call and its return, in
/// which every result is that of a register?
///
/// Linearizability is local (Herlihy and Wing 1990), so each key is searched by itself. The search is that of Wing and
/// Gong (1993) as Lowe bettered it (Testing for linearizability, 2017): operations are linearized *just in time*, when
/// some operation returns and must have taken effect by then, and configurations that were met before are not
/// searched again. An operation without return may take effect at any moment from its call on, or never.
struct Register {
  /// What an operation found and left at this key, in one step.
  struct Step {
    var operation: Int
    var begin: UInt64
    var end: UInt64?
    var condition: Operation.Condition
    var write: UInt64?
  }

  enum Verdict: Equatable {
    case linearizable
    /// No order explains the return of this operation.
    case impossible(operation: Int)
    /// Too much happened at once to say.
    case undecided
  }

  /// A value, and which of the open steps have taken effect: a bit each.
  private struct Configuration: Hashable {
    var value: UInt64
    var effective: UInt64
  }

  private var open: [Step?] = []
  private var configurations: Set<Configuration> = [Configuration(value: 0, effective: 0)]
  static let maximumConfigurations = 1 << 18

  static func check(_ steps: [Step]) -> Verdict {
    var register = Register()
    // Calls before returns of the same instant: only an end before a begin puts one operation before another.
    let calls = steps.sorted { $0.begin < $1.begin }
    let returns = steps.filter { $0.end != nil }.sorted { $0.end! < $1.end! }
    var next = 0
    for step in returns {
      while next < calls.count, calls[next].begin <= step.end! {
        guard register.call(calls[next]) else { return .undecided }
        next += 1
      }
      guard let isPossible = register.leave(step) else { return .undecided }
      if !isPossible { return .impossible(operation: step.operation) }
    }
    return .linearizable
  }

  private mutating func call(_ step: Step) -> Bool {
    // A look that nobody lived to tell of says nothing.
    if step.end == nil, step.write == nil { return true }
    if let place = open.firstIndex(where: { $0 == nil }) {
      open[place] = step
    } else {
      open.append(step)
    }
    configurations = Set(configurations.map(withReads))
    return open.count <= 64
  }

  /// A pure look that may take effect now does: later it constrains no less.
  private func withReads(_ configuration: Configuration) -> Configuration {
    var result = configuration
    for case (let place, let step?) in open.enumerated() where step.write == nil && step.condition.holds(result.value) {
      result.effective |= 1 << UInt64(place)
    }
    return result
  }

  /// The step must have taken effect by now. Nil: too many ways to look at.
  private mutating func leave(_ step: Step) -> Bool? {
    let place = open.firstIndex { $0?.operation == step.operation }!
    let bit: UInt64 = 1 << UInt64(place)
    var reached: Set<Configuration> = []
    var seen = configurations
    var left = Array(configurations)
    while let configuration = left.popLast() {
      if configuration.effective & bit != 0 {
        reached.insert(Configuration(value: configuration.value, effective: configuration.effective & ~bit))
        continue
      }
      for case (let other, let step?) in open.enumerated() where configuration.effective & 1 << UInt64(other) == 0 {
        guard let write = step.write, step.condition.holds(configuration.value) else { continue }
        let following = withReads(
          Configuration(value: write, effective: configuration.effective | 1 << UInt64(other)))
        if seen.insert(following).inserted { left.append(following) }
      }
      if seen.count > Self.maximumConfigurations { return nil }
    }
    open[place] = nil
    configurations = reached
    return !reached.isEmpty
  }
}
