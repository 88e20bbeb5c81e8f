import SharedTable
import TestSupport

/// What tests of waiting and watching ask for; nil for any other command.
func answerEvents(_ words: [String]) throws -> String? {
  switch words[0] {
  case "wait": return "\(try table.waitForCommit(after: UInt64(words[1])!, timeout: .seconds(30)))"
  case "change":
    var changes = RandomChanges(seed: UInt64(words[1])!, keys: Int(words[3])!)
    return "done \(try changes.run(table, operations: Int(words[2])!))"
  case "fork-wait": return forked { outcome { "\(try table.waitForCommit(after: 0))" } }
  default: return nil
  }
}

/// Sets and removes keys at random, one or several in a barrier; some barriers are undone.
struct RandomChanges {
  private var generator: SplitMix
  private let keys: Int

  private struct Change: Error {}

  init(seed: UInt64, keys: Int) {
    generator = SplitMix(seed: seed)
    self.keys = keys
  }

  /// - Returns: how many changes were committed.
  mutating func run(_ table: Table, operations: Int) throws -> Int {
    var committed = 0
    for _ in 0..<operations {
      switch generator.below(10) {
      case ..<4:
        try table.set(key(), Int(generator.below(1 << 40)))
        committed += 1
      case ..<6:
        if try table.remove(key()) { committed += 1 }
      case ..<9:
        committed += try barrier(table)
      default:
        do { _ = try barrier(table, abort: true) } catch is Change {}
      }
    }
    return committed
  }

  private mutating func key() -> String { "key \(generator.below(keys))" }

  private mutating func barrier(_ table: Table, abort: Bool = false) throws -> Int {
    try table.barrier { tx in
      var changes = 0
      for _ in 0..<(1 + generator.below(6)) {
        if generator.below(3) > 0 {
          try tx.set(key(), Int(generator.below(1 << 40)))
          changes += 1
        } else if try tx.remove(key()) {
          changes += 1
        }
      }
      if abort { throw Change() }
      return changes
    }
  }
}
