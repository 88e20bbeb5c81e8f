// What a worker does with barriers of some keys.

import Glibc
import SharedTable
import TestSupport

/// Nil for a command that is not one of these.
func keyedAnswer(_ words: [String]) throws -> String? {
  func keys() -> [String] { words[1].split(separator: ",").map(String.init) }
  switch words[0] {
  case "keyed":
    let timeout: Duration? = words.count > 2 ? .milliseconds(Int(words[2])!) : nil
    try table.barrier(keys: keys(), timeout: timeout) { tx in try inside(&tx) }
    return "ok"
  case "keyed-large":
    try table.barrier(keys: [words[1]]) { tx in try tx.set(words[1], [UInt8](repeating: 1, count: Int(words[2])!)) }
    return "ok"
  case "keyed-fork":
    // In a barrier of a key, a child forked in it has the closure but neither the claim nor the changes.
    do {
      return try table.barrier(keys: keys()) { tx in try forkInside(&tx, words[1]) }
    } catch is Abort {
      _exit(0)
    }
  case "keyed-transfers":
    // Moves amounts between accounts for ever, reading and writing as far apart as can be.
    var generator = SplitMix(seed: UInt64(words[1])!)
    let accounts = Int(words[2])!
    say("in")
    while true { try transfer(&generator, accounts) }
  default:
    return nil
  }
}

/// The child says what is refused to it, and leaves the barrier by an error.
private func forkInside(_ tx: inout Transaction, _ key: String) throws -> String {
  try tx.set(key, "parent")
  let child = cFork()
  if child == 0 {
    var answers: [String] = []
    do throws(TableError) { try tx.set(key, "child") } catch { answers.append(describe(error)) }
    do throws(TableError) { answers.append(shown(try tx.get(key))) } catch { answers.append(describe(error)) }
    say(answers.joined(separator: ", "))
    throw Abort()
  }
  waitpid(child, nil, 0)
  return shown(try tx.get(key))
}

private func transfer(_ generator: inout SplitMix, _ accounts: Int) throws {
  let from = generator.below(accounts)
  let to = (from + 1 + generator.below(accounts - 1)) % accounts
  let amount = generator.below(100)
  let isUndone = generator.below(8) == 0
  do {
    try table.barrier(keys: ["account/\(from)", "account/\(to)"]) { tx in
      let balance = try tx.get("account/\(from)", as: Int.self)!
      try tx.set("account/\(from)", balance - amount)
      sched_yield()
      try tx.set("account/\(to)", try tx.get("account/\(to)", as: Int.self)! + amount)
      if isUndone { throw Abort() }
    }
  } catch is Abort {}
  // Barriers of the whole table, too.
  if generator.below(4) == 0 {
    try table.barrier { tx in
      try tx.increment("account/\(from)", by: amount)
      try tx.increment("paid in", by: amount)
    }
  }
}
