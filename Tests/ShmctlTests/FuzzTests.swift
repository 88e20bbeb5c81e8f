import SharedTable
import TestSupport
import Testing

@testable import shmctl

/// Random arguments, inputs, batches and dumps for the real command: it never crashes, says what it says in lines that a terminal may
/// have, ends with a status that is documented, and a load, an import or a transaction that fails has changed nothing.
///
/// `SHMCTL_FUZZ` is the number of rounds (`make ctl-fuzz`); `SHMCTL_SEED` repeats one.
@Suite struct FuzzTests {
  private static let rounds = environment("SHMCTL_FUZZ") ?? 60

  private static func seeded() -> (seed: UInt64, random: SplitMix) {
    let seed = environment("SHMCTL_SEED").map { UInt64($0) } ?? UInt64.random(in: 0..<1 << 62)
    return (seed, SplitMix(seed: seed))
  }

  private static func check(_ run: CommandRun, _ what: @autoclosure () -> String) {
    #expect((0...12).contains(run.status), "\(what()): status \(run.status), \(run.errors)")
    for line in run.errors.split(separator: "\n") {
      #expect(line.hasPrefix("shmctl: ") && !line.utf8.contains { $0 < 0x20 || $0 == 0x7f }, "\(what()): \(line)")
    }
    // Keys of standard input are dealt with as they come: a bad one may follow others that were looked for and are not there.
    let complaints = run.errors.split(separator: "\n").filter { !$0.contains(": no key '") }
    if run.status == 2 { #expect(complaints.count == 1, "\(what()): \(run.errors)") }
  }

  // Nothing that waits for ever, writes files or touches other tables.
  private static let commands = [
    "get", "mget", "set", "mset", "del", "exists", "type", "ttl", "expire", "persist", "incr", "append", "cas",
    "getdel", "rename",
    "ls", "count", "stat", "clients", "log", "batch", "transaction", "dump", "load", "export", "import", "complete",
    "tables",
  ]
  private static let pieces = [
    "k", "key", "user:1", "", "-", "--", "-0", "-5", "-q", "--json", "--prefix", "--glob", "[a-", "*", "--ttl", "5s",
    "99999999999d",
    "--type", "integer", "--int", "--double", "--bool", "--json", "--bytes", "--string", "--if-absent", "--if-present",
    "--if-version",
    "1", "0", "18446744073709551615", "-9223372036854775808", "1e400", "{\"a\":1}", "\"\\ud800\"", "--default",
    "--limit", "-1", "--long",
    "--sort", "--raw", "--get", "--force", "--yes", "--keep-ttl", "--persist", "--timeout", "50ms", "--trust",
    "everyone", "nobody",
    "csv", "env", "resp", "--merge", "--replace", "--skip", "--resume", "--stream", "--dry-run", "--atomic",
    "--results", "--from", "-n",
    "--explain", "--prometheus", "--nonsense", "-x", "-qt", "--table=", "é😀", "\u{1b}[31m", "a\nb", "\u{10ff00}",
    "\u{10ffff}", "-tn",
    String(repeating: "k", count: 70_000),
  ]

  @Test func randomArgumentsAndInputNeverCrash() throws {
    var (seed, random) = Self.seeded()
    let table = try TestTable()
    for round in 0..<Self.rounds {
      let words =
        [Self.commands.randomElement(using: &random)!]
        + (0..<random.below(6)).map { _ in Self.pieces.randomElement(using: &random)! }
      let input = Self.input(&random)
      let run = try table.run(words, input: input)
      Self.check(run, "seed \(seed), round \(round): \(words.map { $0.prefix(80) })")
    }
    #expect(try CommandRun(["check", table.name]).status == 0, "seed \(seed)")
  }

  private static func input(_ random: inout SplitMix) -> [UInt8] {
    let parts: [[UInt8]] = [
      Array("set k v\n".utf8), Array("incr k\n".utf8), Array("del k\n".utf8), Array("k\tv\n".utf8),
      Array("key,value\r\n".utf8),
      Array("{\"op\":\"set\",\"key\":\"a\",\"value\":1}\n".utf8), Array("A=b\n".utf8),
      Array("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n".utf8),
      [0], [0xff, 0xfe], Array("\"".utf8), Array("\\x".utf8), Array("'".utf8), [10], [13], Array("[[[[".utf8),
      Array("$999999999\r\n".utf8),
    ]
    return (0..<random.below(8)).flatMap { _ in parts.randomElement(using: &random)! }
  }

  @Test func aTransactionOrImportThatFailsHasChangedNothing() throws {
    var (seed, random) = Self.seeded()
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("k", 1)
    let forms = [
      ["transaction"], ["transaction", "--json"], ["import", "csv"], ["import", "env"], ["import", "resp"],
      ["mset", "-"],
    ]
    for round in 0..<Self.rounds {
      let (words, input) = (forms.randomElement(using: &random)!, Self.input(&random))
      let before = try Self.versions(handle)
      let run = try table.run(words, input: input)
      Self.check(run, "seed \(seed), round \(round): \(words)")
      if run.status != 0 {
        #expect(try Self.versions(handle) == before, "seed \(seed), round \(round): \(words) \(input)")
      }
    }
  }

  @Test func aDumpThatIsDamagedInAnyWayIsAppliedWholeOrNotAtAll() throws {
    var (seed, random) = Self.seeded()
    let (source, target) = (try TestTable(), try TestTable())
    let handle = try source.open()
    for number in 0..<20 { try handle.set("key\(number)", String(repeating: "v", count: number)) }
    try handle.set("n", 7)
    let dumps = [try source.run("dump").output, try source.run("dump", "--json").output]
    let reader = try target.open()
    for round in 0..<Self.rounds {
      var dump = dumps.randomElement(using: &random)!
      for _ in 0...random.below(3) { Self.damage(&dump, &random) }
      let rule = [["load"], ["load", "--if-absent"], ["load", "--replace"], ["load", "--resume"]].randomElement(
        using: &random)!
      let before = try Self.versions(reader)
      let run = try target.run(rule, input: dump)
      Self.check(run, "seed \(seed), round \(round)")
      if run.status != 0 { #expect(try Self.versions(reader) == before, "seed \(seed), round \(round): \(run.errors)") }
    }
    #expect(try CommandRun(["check", target.name]).status == 0, "seed \(seed)")
  }

  /// Which keys there are, and when each was stored last. The table's own version says too much: it grows also by a barrier
  /// that is undone.
  private static func versions(_ table: Table) throws -> [[UInt8]: UInt64] {
    var versions: [[UInt8]: UInt64] = [:]
    try table.read { view throws in
      try view.forEach { key, entry in unsafe versions[key.withUnsafeBytes { unsafe Array($0) }] = entry.version }
    }
    return versions
  }

  private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    guard !bytes.isEmpty else { return }
    let (first, second) = (random.below(bytes.count), random.below(bytes.count))
    let range = min(first, second)..<max(first, second)
    switch random.below(5) {
    case 0: bytes[first] ^= 1 << UInt8(random.below(8))
    case 1: bytes.removeSubrange(range)
    case 2: bytes.insert(contentsOf: bytes[range], at: second)
    case 3: bytes.removeLast(bytes.count - first)
    default: bytes.append(contentsOf: (0..<random.below(20)).map { _ in UInt8(truncatingIfNeeded: random.below(256)) })
    }
  }
}
