import Glibc
import SharedTable
import Synchronization
import TestSupport

/// Commands that use collections; nil for others.
func collectionAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  case "dictionary-set":
    try SharedDictionary<Int, Int>(words[1], in: table).set(Int(words[2])!, Int(words[3])!)
    return "ok"
  case "dictionary-get":
    return try SharedDictionary<Int, Int>(words[1], in: table)[Int(words[2])!].map(String.init) ?? "nil"
  case "fork-property": return forkedBesideReaders(Int(words[1])!)
  case "array-clear":
    try SharedArray<Int>(words[1], in: table).removeAll()
    return "ok"
  case "array-remove": return "\(try SharedArray<Int>(words[1], in: table).remove(at: Int(words[2])!))"
  case "collections-churn":
    var random = SplitMix(seed: UInt64(words[1])!)
    let collections = try Collections(table)
    for step in 0..<Int(words[2])! {
      try table.barrier { tx in
        try collections.change(Int(words[1])! * 1_000_000 + step * 10, &random, &tx)
        try tx.increment("steps")
      }
      say("step")
    }
    return "ok"
  default: return nil
  }
}

/// Children that are forked while other threads read a property look at it, too.
private func forkedBesideReaders(_ count: Int) -> String {
  let hits = Shared(wrappedValue: 7, "hits", in: table)
  func shown() -> String { "\(hits.wrappedValue) \(hits.failure?.code.rawValue ?? "nil")" }
  // Swift's runtime takes locks of its own when a type is used for the first time. A child that is forked while another thread holds one
  // waits for it for ever, whatever the library does.
  _ = shown()
  let isOver = Atomic(false)
  let threads = (0..<2).map { _ in
    startThread { while !isOver.load(ordering: .relaxed) { _ = hits.wrappedValue } }
  }
  defer {
    isOver.store(true, ordering: .relaxed)
    for thread in threads { pthread_join(thread, nil) }
  }
  for _ in 0..<count {
    let said = forked {
      // In case that it waits for ever.
      alarm(60)
      return shown()
    }
    if said != "7 forked" { return said }
  }
  return "ok"
}

/// The same inside a barrier; false for others.
func collectionAnswer(_ words: [String], _ tx: inout Transaction) throws -> Bool {
  switch words[0] {
  case "collections-add":
    let first = Int(words[1])!
    for number in first..<first + Int(words[2])! { try Collections(table).add(number, at: 0, &tx) }
  case "collections-clear": try Collections(table).clear(&tx)
  default: return false
  }
  return true
}

/// Four collections that always hold the same numbers.
struct Collections {
  let array: SharedArray<Int>
  let dictionary: SharedDictionary<Int, String>
  let set: SharedSet<String>
  let counter: SharedCounter

  init(_ table: Table) throws {
    array = try SharedArray("array", in: table)
    dictionary = try SharedDictionary("dictionary", in: table)
    set = try SharedSet("set", in: table)
    counter = try SharedCounter("counter", in: table)
  }

  func add(_ number: Int, at index: Int, _ tx: inout Transaction) throws {
    try array.insert(number, at: index, in: &tx)
    try dictionary.set(number, "\(number)", in: &tx)
    try set.insert("\(number)", in: &tx)
    try counter.increment(in: &tx)
  }

  /// Removes a few numbers, and adds some from `first` on.
  func change(_ first: Int, _ random: inout SplitMix, _ tx: inout Transaction) throws {
    let count = try array.count(in: tx)
    for removed in 0..<min(random.below(9), count) {
      let number = try array.remove(at: random.below(count - removed), in: &tx)
      try dictionary.removeValue(forKey: number, in: &tx)
      try set.remove("\(number)", in: &tx)
      try counter.increment(by: -1, in: &tx)
    }
    for number in first..<first + 1 + random.below(9) {
      try add(number, at: random.below(try array.count(in: tx) + 1), &tx)
    }
  }

  func clear(_ tx: inout Transaction) throws {
    try array.removeAll(in: &tx)
    try dictionary.removeAll(in: &tx)
    try set.removeAll(in: &tx)
    _ = try counter.reset(in: &tx)
  }
}
