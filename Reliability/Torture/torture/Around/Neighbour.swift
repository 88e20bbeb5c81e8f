import Glibc
import SharedMemory
import SharedTable
import Synchronization
import TableEngine
import TestSupport

/// A process that does to a table what it is told, line by line, in whatever surroundings it was put.
///
/// Each command is answered by one line: what was asked for, or `error CODE pid PID: message`.
@safe
final class Neighbour {
  private var opened: Table?
  private var snapshot: Snapshot?
  var table: Table {
    get throws {
      guard let opened else { throw Unavailable("no table is open") }
      return opened
    }
  }
  /// Seconds that this process's clock differs from the host's.
  static let clockOffset = Atomic<Int>(0)

  static func serve(_ arguments: [String]) throws {
    if let greeting = arguments.first { say(greeting) }
    let neighbour = Neighbour()
    while let words = readLine()?.split(separator: " ").map(String.init) {
      say(described { try neighbour.answer(words) })
    }
  }

  func answer(_ words: [String]) throws -> String {
    if let answer = try answerAboutTables(words) { return answer }
    if let answer = try answerAboutSections(words) { return answer }
    return try answerAboutTheProcess(words)
  }

  /// The host's clock, put off by what the item says: the seam is the one that the library's users have.
  private static let clock: @Sendable () -> UInt64 = {
    HostClock.realtimeNanoseconds &+ UInt64(bitPattern: Int64(clockOffset.load(ordering: .relaxed) * 1_000_000_000))
  }

  private func answerAboutTables(_ words: [String]) throws -> String? {
    switch words[0] {
    case "create":
      opened = try Table.create(
        words[1], .init(variant: words[2] == "rwlock" ? .rwlock : .rcu, capacityBytes: Int(words[3])!),
        clock: Self.clock)
    case "open":
      let ways: [String: Table.Access] = ["observer": .observer, "participant": .participant]
      opened = try Table.open(words[1], access: ways[words[2]] ?? .automatic, clock: Self.clock)
      return try table.isObserver ? "observer" : "participant"
    case "close":
      snapshot = nil
      opened = nil
    case "drop": try Table.drop(words[1])
    case "set": try table.set(words[1], words[2], timeout: milliseconds(words, 3))
    case "set-for":
      try table.set(words[1], words[2], expires: .after(.seconds(Int(words[3])!)))
    case "get": return try table.get(words[1]) ?? "nil"
    case "count": return "\(try table.count)"
    case "check": return try table.check().first ?? "ok"
    case "limbo": return "\(try table.statistics.limboBytes ?? -1)"
    case "maintain": return "\(try table.administration.maintain().map { "\($0)" } ?? "busy")"
    case "named": return "\(try table.administration.isNamed)"
    case "sweep":
      var sweep = Table.ExpirySweep()
      var removed = 0
      while !sweep.isAtEnd { removed += try table.administration.sweepExpired(&sweep) }
      return "\(removed)"
    case "offset": Self.clockOffset.store(Int(words[1])!, ordering: .relaxed)
    case "bank": return try bank(transfers: Int(words[1])!)
    case "audit": return try audit(sections: Int(words[1])!)
    case "fill": return try fill(values: Int(words[1])!, bytes: Int(words[2])!, tag: words[3])
    case "clear":
      try table.barrier { tx in for number in 0..<Int(words[1])! { try tx.remove("\(words[2])\(number)") } }
    case "verify": return try verify(values: Int(words[1])!, bytes: Int(words[2])!, tag: words[3])
    default: return nil
    }
    return "ok"
  }

  private func answerAboutSections(_ words: [String]) throws -> String? {
    switch words[0] {
    case "barrier":
      try table.barrier(timeout: milliseconds(words, 1)) { _ in try inside() }
      return "ended"
    case "read":
      try table.read(timeout: milliseconds(words, 1)) { _ in try inside() }
      return "ended"
    case "snapshot": snapshot = try table.snapshot()
    case "snapshot-get": return try snapshot?.get(words[1]) ?? "nil"
    default: return nil
    }
    return "ok"
  }

  /// Goes on taking commands inside a section, until `end`.
  private func inside() throws {
    say("inside")
    while let words = readLine()?.split(separator: " ").map(String.init), words[0] != "end" {
      say(described { try answer(words) })
    }
  }

  /// 16 accounts, whose sum no transfer changes.
  private func bank(transfers: Int) throws -> String {
    let table = try table
    for number in 0..<transfers {
      try table.barrier { tx in
        let (from, to) = ("account\(number % 16)", "account\((number * 7 + 3) % 16)")
        try tx.set(from, (try tx.get(from, as: Int.self) ?? 100) - 1)
        try tx.set(to, (try tx.get(to, as: Int.self) ?? 100) + 1)
      }
    }
    return "ok"
  }

  private func audit(sections: Int) throws -> String {
    let table = try table
    for _ in 0..<sections {
      let sum = try table.read { view in
        var sum = 0
        for number in 0..<16 { sum += try view.get("account\(number)", as: Int.self) ?? 100 }
        return sum
      }
      if sum != 1600 { return "the accounts of one snapshot sum up to \(sum)" }
    }
    return "ok"
  }

  /// One barrier that sets so many values; each says whose it is.
  private func fill(values: Int, bytes: Int, tag: String) throws -> String {
    try table.barrier { tx in
      for number in 0..<values { try tx.set("\(tag)\(number)", Self.value(tag, number, bytes)) }
    }
    return "ok"
  }

  private func verify(values: Int, bytes: Int, tag: String) throws -> String {
    let table = try table
    for number in 0..<values where try table.bytes(forKey: "\(tag)\(number)") != Self.value(tag, number, bytes) {
      return "\(tag)\(number) is not what was stored"
    }
    return "ok"
  }

  private static func value(_ tag: String, _ number: Int, _ bytes: Int) -> [UInt8] {
    let text = Array("\(tag) \(number) ".utf8)
    return (0..<bytes).map { text[$0 % text.count] }
  }

  private func milliseconds(_ words: [String], _ index: Int) -> Duration? {
    words.count > index ? .milliseconds(Int(words[index])!) : nil
  }
}

/// What `body` answers, or its error as one line.
func described(_ body: () throws -> String) -> String {
  do {
    return try body()
  } catch let error as TableError {
    return "error \(error.code.rawValue) pid \(error.holder?.pid ?? 0): \(error.message)"
  } catch {
    return "error \(error)"
  }
}
