import SharedTable
import TableEngine
@testable import TableMirror
import TableTestSupport
import Testing

/// What no table can hold, or no store can send, stops the mirror; readers keep the last whole revision.
@Suite struct BadInputTests {
  /// - Parameter mend: what somebody does about it over there; the mirror that is begun then goes on.
  private func stops(
    _ expected: String, mendedBy mend: [(key: String, value: String?)] = [], _ change: @Sendable (FakeStore) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await MirrorFixture.with { fixture in
      fixture.store.commit([("app/a", "1")])
      let (report, _) = try await fixture.mirroring {
        try await fixture.wait(for: .following)
        let before = try fixture.table.upstream.status()!.revision
        change(fixture.store)
        try await fixture.wait(for: .stopped)
        let status = try fixture.table.upstream.status()!
        #expect(status.problem.contains(expected), sourceLocation: sourceLocation)
        #expect(status.revision == before, sourceLocation: sourceLocation)
        #expect(try fixture.contents == ["a": "1"], sourceLocation: sourceLocation)
      }
      #expect(report.state == .stopped, sourceLocation: sourceLocation)
      if mend.isEmpty { return }
      let last = fixture.store.commit(mend)
      let (next, _) = try await fixture.mirroring {
        try await fixture.wait { $0.state == .following && $0.revision == last }
      }
      #expect(next.status?.revision == last && next.reads == 1, "\(next)", sourceLocation: sourceLocation)
      #expect(try fixture.contents["b"] == "2", sourceLocation: sourceLocation)
    }
  }

  @Test func aKeyThatIsNotBelowThePrefix() async throws {
    try await stops("below the prefix") { store in
      let events = ["app/b", "elsewhere"].map {
        SourceEvent(key: Array($0.utf8), value: [1], revision: store.position.revision + 1)
      }
      store.send(WatchAnswer(position: store.position, events: events))
    }
  }

  @Test func revisionsInNoOrder() async throws {
    try await stops("cannot be") { store in
      let events = [9, 8].map { SourceEvent(key: Array("app/b".utf8), value: [1], revision: $0) }
      store.send(WatchAnswer(position: store.position, events: events))
    }
  }

  @Test func anEventWithoutARevision() async throws {
    try await stops("revision 0") { store in
      store.send(
        WatchAnswer(position: store.position, events: [SourceEvent(key: Array("app/b".utf8), value: [1], revision: 0)]))
    }
  }

  @Test func theKeyThatTheTableKeepsForItself() async throws {
    try await stops("#upstream", mendedBy: [("app/#upstream", nil)]) { store in
      store.commit([("app/b", "2"), ("app/#upstream", "3")])
    }
  }

  @Test func aValueThatIsTooLarge() async throws {
    try await stops("key 'large'", mendedBy: [("app/large", nil)]) { store in
      store.commit([("app/b", "2"), ("app/large", String(repeating: "x", count: 2 << 20))])
    }
  }

  @Test func aKeyThatIsTooLong() async throws {
    let key = "app/" + String(repeating: "k", count: 70_000)
    try await stops("key 'kkk", mendedBy: [(key, nil)]) { store in
      store.commit([("app/b", "2"), (key, "1")])
    }
  }

  @Test func moreThanTheTableHasRoomFor() async throws {
    try await stops("does not fit", mendedBy: (0..<10).map { ("app/k\($0)", nil) }) { store in
      let value = String(repeating: "x", count: 900_000)
      store.commit([("app/b", "2")] + (0..<10).map { ("app/k\($0)", value) })
    }
  }

  @Test func moreThanTheTableHasRoomForFromTheBeginning() async throws {
    try await MirrorFixture.with { fixture in
      for number in 0..<10 { fixture.store.commit([("app/k\(number)", String(repeating: "x", count: 900_000))]) }
      try await fixture.mirroring {
        try await fixture.wait(for: .stopped)
        #expect(try fixture.contents == [:])
        #expect(try fixture.table.upstream.status()!.problem.contains("does not fit"))
      }
    }
  }

  /// Others may fill /dev/shm, and keep old versions, for a while: that is no reason to wait for somebody to do something.
  @Test func roomThatMayComeByItselfIsWaitedFor() {
    func failure(_ shortage: EngineError.Shortage) -> MirrorFailure {
      MirrorFailure(TableError(.full(shortage), table: "settings"), "revision 7")
    }
    for shortage in [EngineError.Shortage.fileSystem, .reclaimable(nil)] {
      guard case .away(let why) = failure(shortage) else {
        Issue.record("\(failure(shortage))")
        continue
      }
      #expect(why.hasPrefix("revision 7 waits for room: full: "))
    }
    for shortage in [EngineError.Shortage.capacity, .barrier, .fileSize] {
      guard case .stopped = failure(shortage) else {
        Issue.record("\(failure(shortage))")
        continue
      }
    }
  }
}
