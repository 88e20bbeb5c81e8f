import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    ("etcd://db:2379/app/", "app/"), ("etcd://db:2379//registry/", "/registry/"), ("etcd://db:2379/", ""),
    ("etcd://a:1,b:2,[::1]:3/x%2fy%00", "x/y\0"),
  ])
  func addressIsReadAndWritten(text: String, prefix: String) throws {
    let address = try MirrorAddress(text)
    #expect(String(decoding: address.prefix, as: UTF8.self) == prefix)
    #expect(try MirrorAddress(address.description) == address)
    #expect(!address.isSecure)
  }

  @Test func endpointsKeepTheirOrder() throws {
    let address = try MirrorAddress("etcds://a:1,[fe80::1]:2/p")
    #expect(address.isSecure)
    #expect(address.endpoints.map(\.description) == ["a:1", "[fe80::1]:2"])
  }

  @Test(arguments: [
    "http://a:1/p", "etcd://a:1", "etcd:///p", "etcd://a/p", "etcd://a:0/p", "etcd://a:65536/p", "etcd://a:x/p",
    "etcd://a:1,/p", "etcd://a:1,a:1/p", "etcd://u@a:1/p", "etcd://::1:2/p", "etcd://a:1/p%2", "etcd://a:1/p%zz", "",
  ])
  func whatIsNoAddressIsSaid(text: String) {
    #expect(throws: MirrorAddress.Mistake.self) { try MirrorAddress(text) }
  }
}

@Suite struct AccessTests {
  /// A pipe that nobody writes into is no reason to wait: its reader has the table's thread.
  @Test func filesAreReadWithoutWaiting() throws {
    let path = "/tmp/mirror-access-\(uniqueTableName())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let hasRead = Counter()
    let thread = TestThread {
      let bytes = try MirrorAccess.contents(path)
      hasRead.increment()
      return bytes
    }
    let isRead = eventually { hasRead.value == 1 }
    #expect(isRead)
    if !isRead { close(open(path, O_WRONLY)) }
    #expect(try thread.join() == [])
  }

  @Test func whatIsNoSuchFileIsSaid() {
    #expect(throws: MirrorFailure.self) { try MirrorAccess.contents("/dev/zero") }
    #expect(throws: MirrorFailure.away("/nowhere: cannot be read (open: No such file or directory (ENOENT))")) {
      try MirrorAccess.contents("/nowhere")
    }
  }
}

@Suite struct BackOffTests {
  @Test func waitsGrowAndAreSpread() {
    var backOff = BackOff(shortest: .milliseconds(100), longest: .seconds(10))
    #expect(backOff.next(random: 0) == .milliseconds(50))
    #expect(backOff.next(random: 0) == .milliseconds(100))
    #expect(backOff.next(random: 0.5) == .milliseconds(300))
    for _ in 0..<100 { _ = backOff.next(random: 0) }
    #expect(backOff.next(random: 0) == .seconds(5))
    #expect(backOff.next(random: 0.999) < .seconds(10))
    backOff.reset()
    #expect(backOff.next(random: 0) == .milliseconds(50))
  }
}

@Suite struct PageTests {
  @Test func aPageIsAMegabyteOrWhatComesInASecond() {
    let page = ContentPage()
    for number in 0..<64 { page.append(key: Array("key \(number)".utf8), value: [UInt8](repeating: 0, count: 8192)) }
    // At full speed: four times as many, if that is no more than a megabyte.
    #expect(ContentReader.limit(after: page, 16, took: .milliseconds(10)) == 64)
    #expect(ContentReader.limit(after: page, 64, took: .milliseconds(10)) == 127)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4)) == 16)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4000)) == 1)
  }
}

@Suite struct RevisionAssemblerTests {
  private func answer(_ revisions: [Int64], isFragment: Bool) -> WatchAnswer {
    WatchAnswer(
      position: SourcePosition(cluster: 1, revision: 9, term: 1),
      events: revisions.map { SourceEvent(key: [UInt8(truncatingIfNeeded: $0)], value: [], revision: $0) },
      isFragment: isFragment)
  }

  private func numbers(_ revisions: [SourceRevision]) -> [Int64] {
    revisions.flatMap { revision in revision.events.map { _ in revision.number } }
  }

  /// One who catches up is sent thousands of revisions in one batch.
  @Test func aRevisionIsWholeWhenALaterOneComesInTheSameBatch() throws {
    var assembler = RevisionAssembler(after: 2)
    #expect(numbers(try assembler.add(answer([2, 3, 3], isFragment: true))) == [])
    #expect(numbers(try assembler.add(answer([3, 4, 5], isFragment: true))) == [3, 3, 3, 4])
    #expect(numbers(try assembler.add(answer([], isFragment: true))) == [])
    #expect(numbers(try assembler.add(answer([5], isFragment: false))) == [5, 5])
    #expect(numbers(try assembler.add(answer([5, 6], isFragment: false))) == [6])
  }
}

@Suite struct FreshnessTrackerTests {
  private func look(_ revision: Int64) -> FreshnessTracker.Look {
    FreshnessTracker.Look(revision: revision, realtime: UInt64(revision) * 10, monotonic: 0)
  }

  @Test func whatIsAppliedAlreadyIsKnownAtOnce() {
    var tracker = FreshnessTracker()
    #expect(tracker.look(look(5), applied: 5) == look(5))
    #expect(tracker.look(look(6), applied: 5) == nil)
    #expect(tracker.apply(first: 6, last: 6) == look(6))
  }

  @Test func anAnswerCountsWithTheNext() {
    var tracker = FreshnessTracker()
    #expect(tracker.look(look(9), applied: 5) == nil)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.look(look(11), applied: 5) == nil)
    #expect(tracker.progress(11) == look(9))
  }

  /// In a store that is busy elsewhere each look is newer than the answer that was asked for before it.
  @Test func aLookThatNothingWasAskedForDoesNotTakeTheAskedOnesPlace() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(9) == nil)
    _ = tracker.look(look(11), applied: 5)
    _ = tracker.look(look(12), applied: 5, asks: false)
    #expect(tracker.progress(11) == look(9))
  }

  @Test func anAnswerThatOvertookAnEventDoesNotCount() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.apply(first: 8, last: 8) == nil)
    #expect(tracker.overtaken == 1)
    _ = tracker.look(look(11), applied: 8)
    #expect(tracker.progress(11) == nil)
  }

  @Test func anAnswerBehindTheLookDoesNotCount() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(8) == nil)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.progress(10) == nil)
  }
}

@Suite struct ContentTests {
  @Test func keysAreFoundAcrossPages() throws {
    var contents = SourceContents(at: SourcePosition(cluster: 1, revision: 1, term: 1))
    for start in stride(from: 10, to: 60, by: 10) {
      let page = ContentPage()
      for key in start..<start + 5 { page.append(key: Array("k\(key)".utf8), value: [UInt8]()) }
      try contents.add(page)
    }
    for key in 0..<100 {
      let isThere = key >= 10 && key < 60 && key % 10 < 5
      #expect(contents.contains(Array("k\(key)".utf8)) == isThere || key < 10, "k\(key)")
    }
    #expect(!contents.contains(Array("a".utf8)))
    #expect(!contents.contains(Array("z".utf8)))
    let page = ContentPage()
    page.append(key: Array("k10".utf8), value: [UInt8]())
    #expect(throws: MirrorFailure.self) { try contents.add(page) }
  }
}

@Suite struct UpstreamStatusTests {
  @Test func textReadsAsTheSame() throws {
    var status = UpstreamStatus(.stopped, address: "etcd://a:1/p")
    status.revision = 12
    status.cluster = .max
    status.term = 4
    status.asOf = 77
    status.asOfMonotonic = 78
    status.contents = "string p"
    status.problem = "a\nb"
    let read = try #require(UpstreamStatus(text: status.text))
    status.problem = "a b"
    #expect(read == status)
    #expect(status.text.utf8.count == UpstreamStatus(.away, address: "").text.utf8.count)
    #expect(UpstreamStatus(text: "") == nil)
    #expect(UpstreamStatus(text: "state gone\nrevision 1") == nil)
  }

  @Test func textTakesTheSameRoomWhateverChanges() throws {
    var status = UpstreamStatus(.away, address: String(repeating: "a", count: 300))
    status.contents = "string " + String(repeating: "p", count: 300)
    let length = status.text.utf8.count
    status.state = .following
    (status.revision, status.cluster, status.term) = (.max, .max, .max)
    (status.asOf, status.asOfMonotonic) = (.max, .max)
    status.problem = String(repeating: "é", count: 300)
    #expect(status.text.utf8.count == length)
  }

  @Test func readsMayAskForAnAge() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      #expect(code { try corner.table.read(maximumLag: .seconds(3600)) { _ in } } == .behind)
      try await corner.mirroring {
        try await corner.wait(for: .following)
        #expect(try corner.table.read(maximumLag: .seconds(3600)) { try $0.get("a", as: String.self) } == "1")
        #expect(code { try corner.table.read(maximumLag: .zero) { _ in } } == .behind)
        #expect(try corner.table.upstream.lag != nil)
      }
    }
  }

  @Test func whereNoClockTellsTheAgeIsUnknown() {
    var status = UpstreamStatus(.following, address: "etcd://a:1/p")
    (status.revision, status.asOf, status.asOfMonotonic) = (1, 1000, 100)
    #expect(status.lag(now: 1005, monotonic: 110) == .nanoseconds(10))
    // The calendar was set back.
    #expect(status.lag(now: 900, monotonic: 110) == .nanoseconds(10))
    // The host was started again, with its calendar behind, and with one that goes on.
    #expect(status.lag(now: 900, monotonic: 5) == nil)
    #expect(status.lag(now: 1500, monotonic: 5) == .nanoseconds(500))
  }

  @Test func aTableOfItsOwnHasNoAgeToAskFor() throws {
    try withTable(.rcu) { table in
      #expect(code { try table.read(maximumLag: .seconds(1)) { _ in } } == .behind)
      let lag = try table.upstream.lag
      #expect(lag == nil)
    }
  }

  @Test func ageGoesOnInAQuietStore() async throws {
    try await MirrorCorner.with { corner in
      corner.store.commit([("app/a", "1")])
      try await corner.mirroring {
        try await corner.wait(for: .following)
        let begin = try corner.table.upstream.status()!
        // The store is busy elsewhere: nothing comes, and all the same the table is known to be new.
        corner.store.pass(5)
        let now = HostClock.realtimeNanoseconds
        try await corner.wait { $0.asOf > now }
        #expect(try corner.table.upstream.status()!.revision == begin.revision)
      }
    }
  }
}
