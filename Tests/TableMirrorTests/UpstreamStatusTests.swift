import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct UpstreamStatusTests {
  @Test func textReadsAsTheSame() throws {
    var status = UpstreamStatus(.stopped, address: "etcd://a:1/p")
    status.revision = 12
    status.cluster = .max
    status.term = 4
    status.asOf = 77
    status.asOfMonotonic = 78
    status.contents = "string p"
    status.isUnread = true
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
    status.isUnread = true
    status.problem = String(repeating: "é", count: 300)
    #expect(status.text.utf8.count == length)
  }

  @Test func readsMayAskForAnAge() async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      #expect(code { try fixture.table.read(maximumLag: .seconds(3600)) { _ in } } == .behind)
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        #expect(try fixture.table.read(maximumLag: .seconds(3600)) { try $0.get("a", as: String.self) } == "1")
        #expect(code { try fixture.table.read(maximumLag: .zero) { _ in } } == .behind)
        #expect(try fixture.table.upstream.lag != nil)
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
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      try await fixture.mirroring {
        try await fixture.wait(for: .following)
        let begin = try fixture.table.upstream.status()!
        // The store is busy elsewhere: nothing comes, and all the same the table is known to be new.
        fixture.store.pass(5)
        let now = HostClock.realtimeNanoseconds
        try await fixture.wait { $0.asOf > now }
        #expect(try fixture.table.upstream.status()!.revision == begin.revision)
      }
    }
  }
}
