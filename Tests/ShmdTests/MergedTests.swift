import Testing

@testable import ShmdCore

/// Requests that come while one is carried out.
@Suite struct MergedTests {
  /// Each reload reads the newest file: of fifty that are asked for meanwhile one is enough.
  @Test func whatComesDuringOneCallIsOneMore() async throws {
    let requests = Requests(count: 50)
    var calls = 0
    try await requests.forEachMerged {
      calls += 1
      requests.isUnderWay.open()
      await requests.areAllMade.wait()
    }
    #expect(calls == 2)
  }

  @Test func eachThatComesAfterACallIsAnother() async throws {
    let (requests, continuation) = AsyncStream.makeStream(of: Int.self)
    continuation.yield(1)
    var calls = 0
    try await requests.forEachMerged {
      calls += 1
      if calls < 3 { continuation.yield(1) } else { continuation.finish() }
    }
    #expect(calls == 3)
  }

  /// One request, and when that is under way some more.
  private struct Requests: AsyncSequence, Sendable {
    let count: Int
    let isUnderWay = Latch()
    let areAllMade = Latch()

    func makeAsyncIterator() -> Iterator { Iterator(requests: self) }

    struct Iterator: AsyncIteratorProtocol {
      let requests: Requests
      var made = 0

      mutating func next() async -> Int? {
        if made == 1 { await requests.isUnderWay.wait() }
        if made > requests.count {
          requests.areAllMade.open()
          return nil
        }
        made += 1
        return made
      }
    }
  }
}
