import Foundation
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// `shmctl upstream diff`, with a program that answers in etcdctl's place.
@Suite struct UpstreamDiffTests {
  private let table: TestTable
  private let etcdctl: FakeEtcdctl

  init() throws {
    table = try TestTable(isMade: false)
    var options = Table.Options(capacityBytes: 4 << 20)
    options.features = [.mirror]
    _ = try Table.create(table.name, options)
    etcdctl = try FakeEtcdctl()
  }

  /// Makes the table what an etcd was at a revision, as a mirror does.
  private func mirror(
    _ pairs: [(String, String)], revision: Int64 = 7, state: UpstreamStatus.State = .following, problem: String = "",
    prefix: String = "app/"
  ) throws {
    var status = UpstreamStatus(state, address: "etcd://db:2379,[::1]:2379/\(prefix)")
    (status.revision, status.cluster, status.contents) = (revision, 10_000_000_000_000_000_001, "string \(prefix)")
    status.problem = problem
    let now = UpstreamStatus.Moment.now
    (status.asOf, status.asOfMonotonic) = (now.realtime, now.monotonic)
    try table.open().mirrorBarrier { tx throws(TableError) in
      for (key, value) in pairs + [(Table.Upstream.key, status.text)] {
        try unsafe key.withKeyBytes { key throws(TableError) in
          try unsafe value.withKeyBytes { value throws(TableError) in try unsafe tx.put(key, value, .string) }
        }
      }
    }
  }

  private func diff(_ more: String..., environment: [String: String] = [:]) throws -> CommandRun {
    try etcdctl.run(["upstream", "diff", "-t", table.name] + more, environment: environment)
  }

  @Test func equalIsSilentAndEtcdIsAskedForTheTablesRevision() throws {
    try mirror([("a", "1"), ("b", "<&>"), ("empty", "")])
    // The key that is the prefix is not below it.
    try etcdctl.answer(1, revision: 99, [("app/", "x"), ("app/a", "1"), ("app/b", "<&>"), ("app/empty", "")])
    let run = try diff("--timeout", "7s")
    #expect(run.status == 0 && run.text.isEmpty && run.errors.isEmpty, "\(run.errors)")
    #expect(try etcdctl.words(1) == ["get", "--limit", "16", "--rev", "7", "--", "app/", "app0"])
    #expect(try etcdctl.variables(1) == "3 json http://db:2379,http://[::1]:2379 7000ms")
    #expect(try etcdctl.calls == 1)
  }

  @Test func differencesAreToldAsByDiff() throws {
    try mirror([("only here", "1"), ("same", "1"), ("value", "1")])
    try etcdctl.answer(1, revision: 7, [("app/only there", "1"), ("app/same", "1"), ("app/value", "2")])
    try etcdctl.answer(2, revision: 7, [("app/only there", "1"), ("app/same", "1"), ("app/value", "2")])
    let run = try diff()
    #expect(run.status == 1 && run.text == "- only\\shere\n+ only\\sthere\n~ value\n", "\(run.text)\(run.errors)")
    let changes = try diff("--json").objects.map { ($0?["key"] as? String, $0?["change"] as? String) }
    #expect(changes.map(\.0) == ["only here", "only there", "value"])
    #expect(changes.map(\.1) == ["removed", "added", "changed"])
  }

  @Test func valuesThatAreNoTextAreComparedByTheirBytes() throws {
    try mirror([("a", "1")])
    // The table's is a string of those bytes, and would be bytes if the mirror had stored them.
    try table.open().mirrorBarrier { tx throws(TableError) in
      try unsafe "b".withKeyBytes { key throws(TableError) in
        try unsafe [UInt8]([0xff]).withKeyBytes { value throws(TableError) in
          try unsafe tx.put(key, value, .bytes)
        }
      }
    }
    try etcdctl.answer(
      1,
      #"{"header":{"cluster_id":10000000000000000001,"revision":7},"kvs":[{"key":"YXBwL2E=","value":"MQ=="},{"key":"YXBwL2I=","value":"/w=="}]}"#
    )
    #expect(try diff().status == 0)
  }

  @Test func pagesGoOnAtTheLastKeyOrAtWhatAnArgumentHoldsOfIt() throws {
    try mirror([("a", "1"), ("b\u{0}x", "2"), ("b\u{0}y", "3"), ("c", "4")])
    try etcdctl.answer(1, revision: 7, more: true, [("app/a", "1"), ("app/b\u{0}x", "2")])
    // What was seen comes again, and nothing else: more keys have to be asked for.
    try etcdctl.answer(2, revision: 7, more: true, [("app/b\u{0}x", "2")])
    try etcdctl.answer(3, revision: 7, more: true, [("app/b\u{0}x", "2"), ("app/b\u{0}y", "3")])
    try etcdctl.answer(4, revision: 8, [("app/b\u{0}x", "2"), ("app/b\u{0}y", "3"), ("app/c", "4")])
    let run = try diff()
    #expect(run.status == 0 && run.text.isEmpty, "\(run.text)\(run.errors)")
    #expect(try (2...4).map { try etcdctl.words($0)[6] } == ["app/b", "app/b", "app/b"])
    #expect(try (2...3).map { try etcdctl.words($0)[2] } == ["64", "256"])
    #expect(try etcdctl.calls == 4)
  }

  @Test func thePrefixesWithoutAnEndAreAskedForAsSuch() throws {
    try mirror([("a", "1")], prefix: "")
    try etcdctl.answer(1, revision: 7, [("a", "1")])
    #expect(try diff().status == 0)
    #expect(try etcdctl.words(1).contains("--from-key"))
  }

  @Test func aCompactedRevisionIsComparedWhenTheTableIsAsNewAsEtcd() throws {
    try mirror([("a", "1")])
    try etcdctl.fail(1, "{\"level\":\"warn\"}\nError: etcdserver: mvcc: required revision has been compacted")
    try etcdctl.answer(2, revision: 50, [("app/a", "1")])
    try etcdctl.answer(3, revision: 51, [("app/a", "1"), ("app/lost", "2")])
    let run = try following { try diff("--timeout", "60s") }
    #expect(run.status == 1 && run.text == "+ lost\n", "\(run.text)\(run.errors)")
    // Not at the table's revision, and at the one that the table was found to be as new as.
    #expect(try (1...3).map { try etcdctl.words($0)[4] } == ["7", "0", "50"])
  }

  /// The connection of a mirror may end at any moment, and is made anew.
  @Test func aMirrorThatIsAwayForAMomentIsWaitedFor() throws {
    try mirror([("a", "1")], state: .away)
    try etcdctl.fail(1, "Error: etcdserver: mvcc: required revision has been compacted")
    for call in 2...3 { try etcdctl.answer(call, revision: 50, [("app/a", "1")]) }
    let diff = try etcdctl.start(["upstream", "diff", "-t", table.name, "--timeout", "60s"])
    // It has asked for etcd's position, and sleeps next until the mirror follows.
    #expect(eventually(within: .seconds(60)) { (try? etcdctl.words(2)) != nil })
    try diff.waitUntilAsleep(in: .futex)
    try mirror([])
    #expect(try diff.readToEnd().isEmpty)
    #expect(try diff.wait() == .code(0), "\(diff.standardError)")
  }

  /// Runs `body` beside a mirror to which nothing but its age happens.
  private func following(_ body: () throws -> CommandRun) throws -> CommandRun {
    let isOver = Counter()
    let thread = TestThread { [self] in
      while isOver.value == 0 { try mirror([]) }
    }
    let run = Result { try body() }
    isOver.increment()
    try thread.join()
    return try run.get()
  }

  @Test(arguments: [UpstreamStatus.State.away, .stopped])
  func aCompactedRevisionOfATableThatDoesNotFollowIsSaid(state: UpstreamStatus.State) throws {
    try mirror([("a", "1")], state: state, problem: "no answer")
    try etcdctl.fail(1, "Error: etcdserver: mvcc: required revision has been compacted")
    try etcdctl.answer(2, revision: 50, [("app/a", "1")])
    // Who is stopped is not waited for, however long may be.
    let run = try diff("--timeout", state == .away ? "300ms" : "600s")
    #expect(run.status == 7 && run.text.isEmpty)
    #expect(run.errors.contains("compacted revision 7") && run.errors.contains("ask again"), "\(run.errors)")
    #expect(run.errors.contains("the mirror is \(state) (no answer)"), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test func withoutEtcdctlThePackageIsNamed() throws {
    try mirror([("a", "1")])
    let run = try diff(environment: ["PATH": "/nonexistent"])
    #expect(run.status == 11 && run.errors.contains("etcd-client") && run.errors.split(separator: "\n").count == 1)
  }

  @Test func whatEtcdctlCannotDoIsSaidInItsWords() throws {
    try mirror([("a", "1")])
    try etcdctl.fail(1, "{\"level\":\"warn\"}\nError: context deadline exceeded")
    let run = try diff(environment: ["ETCDCTL_ENDPOINTS": "https://mine:1", "ETCDCTL_COMMAND_TIMEOUT": "1s"])
    #expect(run.status == 11 && run.errors.contains("context deadline exceeded") && !run.errors.contains("level"))
    #expect(try etcdctl.variables(1) == "3 json https://mine:1 1s")
  }

  @Test(arguments: [
    "", "nonsense", "{}", #"{"header":{"cluster_id":1}}"#,
    #"{"header":{"cluster_id":10000000000000000001,"revision":7},"kvs":[{"key":"?"}]}"#,
  ])
  func anAnswerThatIsNoneIsNoDifference(text: String) throws {
    try mirror([("a", "1")])
    try etcdctl.answer(1, text)
    let run = try diff()
    #expect(run.status == 11 && run.text.isEmpty && run.errors.contains("etcdctl"), "\(run.errors)")
  }

  @Test func anotherClusterAndATableThatNeverWasWholeAreNoDifference() throws {
    try mirror([("a", "1")])
    try etcdctl.answer(1, cluster: 5, revision: 7, [("app/a", "1")])
    let other = try diff()
    #expect(other.status == 11 && other.errors.contains("another cluster"), "\(other.errors)")
    try mirror([], revision: 0, state: .away)
    #expect(try diff().status == 7)
    #expect(try etcdctl.calls == 1)
    let own = try TestTable()
    #expect(try own.run("upstream", "diff").status == 2)
  }

  /// In another table it would be wrong.
  @Test func whatAMirrorSaysOfItselfStaysInItsTable() throws {
    try mirror([("#a", "0"), ("a", "1")])
    let (own, copy) = (try TestTable(), try TestTable(isMade: false))
    try own.open().set(Table.Upstream.key, "x")
    #expect(try CommandRun(["copy", table.name, own.name]).text == "2 records applied\n")
    #expect(try own.open().get(Table.Upstream.key, as: String.self) == "x")
    #expect(try CommandRun(["copy", "--prefix", "#", table.name, copy.name]).text == "1 record applied\n")
    // What a table that is no mirror has under that key is its own.
    #expect(try CommandRun(["diff", table.name, own.name]).text == "+ \\x23upstream\n")
    #expect(try CommandRun(["diff", table.name, copy.name]).text == "- a\n")
    let dump = try table.run("dump", "--json")
    #expect(dump.text.contains("#a") && !dump.text.contains(Table.Upstream.key), "\(dump.text)")
    #expect(try CommandRun(["diff", "-", table.name], input: Array(dump.text.utf8)).status == 0)
    #expect(try !table.run("export", "csv").text.contains(Table.Upstream.key))
  }

  @Test func aWatchTellsEtcdsRevisionOfEachBarrier() throws {
    try mirror([], revision: 7)
    let start = try table.open().version
    try mirror([("a", "1")], revision: 8)
    let run = try table.run("watch", "--prefix", "", "--from", "\(start)", "--count", "2")
    let lines = Set(run.text.split(separator: "\n"))
    #expect(lines == ["\(start + 1) set a 1", "\(start + 1) set \\x23upstream revision 8 following"], "\(run.text)")
    let json = try table.run("watch", Table.Upstream.key, "--from", "\(start)", "--count", "1", "--json").objects.first
    let upstream = try #require(json??["upstream"] as? [String: Any])
    #expect(upstream["revision"] as? Int == 8 && upstream["state"] as? String == "following")
    // In a table of its own it is a key as any other.
    let own = try TestTable()
    try own.open().set(Table.Upstream.key, "x")
    #expect(try own.run("watch", Table.Upstream.key, "--from", "1", "--count", "1").text == "2 set \\x23upstream x\n")
  }
}
