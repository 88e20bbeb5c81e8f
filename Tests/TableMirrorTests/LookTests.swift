import SharedMemory
import SharedTable
import Synchronization
import TableMirror
import TableTestSupport
import TestSupport
import Testing

/// Looks at the other store: how old the table is by them, and with what they are compared.
@Suite struct LookTests {
  /// The store may have changed since it answered: the table is known to be as new as the question, and no newer.
  @Test func theTimeThatAnAnswerIsOnItsWayCountsAsAge() async throws {
    try await MirrorFixture.with { fixture in
      let (store, table) = (fixture.store, fixture.table)
      store.commit([("app/a", "1")])
      let answered = Mutex<(page: UInt64, looks: [UInt64], asOfRead: UInt64?)>((0, [], nil))
      store.state.withLock { state in
        state.beforePage = { _ in answered.withLock { $0.page = HostClock.realtimeNanoseconds } }
        state.afterLook = { [weak store] in
          let number = answered.withLock { answered in
            answered.looks.append(HostClock.realtimeNanoseconds)
            return answered.looks.count
          }
          // The session begins with the first one, and reads. The second one is the last.
          guard number == 2 else { return }
          let status = try table.upstream.status()
          answered.withLock { $0.asOfRead = status?.asOf }
          store?.state.withLock { $0.refusesLooks = true }
        }
      }
      try await fixture.mirroring { try await fixture.wait(for: .away) }
      let (page, looks, found) = answered.withLock { $0 }
      let asOfRead = try #require(found)
      let asOf = try #require(try table.upstream.status()).asOf
      try #require(looks.count == 2)
      #expect(looks[0] <= asOfRead && asOfRead <= page)
      #expect(page <= asOf && asOf <= looks[1])
    }
  }

  /// Events come beside the answer to a look. One that overtakes it is of a later revision than the answer.
  @Test func anEventThatOvertakesALookIsNoSignOfAnotherStore() async throws {
    try await MirrorFixture.with { fixture in
      let store = fixture.store
      store.commit([("app/a", "1")])
      let looks = Counter()
      let shown = Mutex<UInt64?>(nil)
      store.state.withLock { state in
        state.afterLook = { [weak store] in
          looks.increment()
          guard looks.value == 2, let store else { return }
          try await fixture.wait(for: store.commit([("app/a", "2")]))
          shown.withLock { $0 = HostClock.realtimeNanoseconds }
        }
      }
      let (report, _) = try await fixture.mirroring {
        // The next look is asked for when this one was judged.
        try await fixture.wait { status in
          status.state == .stopped || shown.withLock { $0.map { status.asOf > $0 } ?? false }
        }
        #expect(try fixture.table.upstream.status()?.state == .following)
      }
      #expect(report.sessions == 1)
    }
  }
}
