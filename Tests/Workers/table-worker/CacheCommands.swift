// What a test tells this process to do with a cache, or a value made once.

import Glibc
import SharedTable
import TestSupport

nonisolated(unsafe) var openedCache: SharedCache<String, String>?
var cache: SharedCache<String, String> { openedCache! }

struct Refused: Error {}

/// Computes `value` when told so: "computing", then "finish", "throw" or "exec".
func stepped(_ value: String) throws -> String {
  say("computing")
  switch nextCommand()?.first {
  case "throw": throw Refused()
  case "exec":
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("table-worker"), nil]
    execv("/proc/self/exe", &arguments)
    return "exec failed"
  default: return value
  }
}

/// What tests of caches and of values made once ask for; nil for any other command.
func answerCache(_ words: [String]) throws -> String? {
  switch words[0] {
  case "cache":
    openedCache = try SharedCache(words[1], in: table, limit: .entries(Int(words[2])!))
    return "ok"
  case "cache-get": return shown(try cache[words[1]])
  case "cache-set":
    try cache.set(words[1], words[2])
    return "ok"
  case "cache-remove": return try cache.remove(words[1]) ? "ok" : "absent"
  case "cache-compute": return try cache.value(forKey: words[1]) { try stepped(words[2]) }
  case "cache-fetch":
    let timeout = Duration.milliseconds(words.count > 3 ? Int(words[3])! : 200_000)
    return try cache.value(forKey: words[1], timeout: timeout) { words[2] }
  case "cache-storm": return try storm(threads: Int(words[1])!, key: words[2])
  case "cache-random":
    try cacheRandom(seed: UInt64(words[1])!, operations: Int(words[2])!, keys: Int(words[3])!)
    return "done"
  case "cache-trace": return "\(try cacheTrace(seed: UInt64(words[1])!, length: Int(words[2])!, keys: Int(words[3])!))"
  case "once":
    return try SharedOnce<String>(words[1], in: table).value(timeout: .seconds(600)) { try stepped(words[2]) }
  default: return nil
  }
}

/// Many threads ask for one key at once; how often it was computed stands in the table.
func storm(threads count: Int, key: String) throws -> String {
  let threads = (0..<count).map { _ in
    startThread {
      let value = try? cache.value(forKey: key, timeout: .seconds(600)) {
        try table.increment("computations")
        return "computed"
      }
      if value == "computed" { _ = try? table.increment("answers", timeout: .seconds(600)) }
    }
  }
  for thread in threads { pthread_join(thread, nil) }
  return "ok"
}

/// Does anything to any key; says how far it is every 20 operations.
func cacheRandom(seed: UInt64, operations: Int, keys: Int) throws {
  var generator = SplitMix(seed: seed)
  for index in 1...operations {
    let key = "k\(generator.below(keys))"
    switch generator.below(100) {
    case ..<50: try cache.set(key, String(repeating: "v", count: generator.below(60)))
    case ..<70: _ = try cache[key]
    case ..<85: _ = try cache.value(forKey: key) { "computed" }
    case ..<99: try cache.remove(key)
    default: if generator.below(10) == 0 { try cache.removeAll() }
    }
    if index % 20 == 0 { say("\(index)") }
  }
}

/// Reads keys of a Zipf distribution and inserts what is missing. Returns the number of hits.
func cacheTrace(seed: UInt64, length: Int, keys: Int) throws -> Int {
  var zipf = Zipf(count: keys, exponent: 0.9, seed: seed)
  var hits = 0
  for _ in 0..<length {
    let key = "\(zipf.next())"
    if try cache[key] != nil {
      hits += 1
    } else {
      try cache.set(key, key)
    }
  }
  return hits
}
