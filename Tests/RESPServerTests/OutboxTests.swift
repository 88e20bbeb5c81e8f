import Testing

@testable import RESPServer

/// What waits for a connection's thread is bounded, and calls that thread once.
@Suite struct OutboxTests {
  private func push(_ number: UInt8) -> ClientRecord.Push {
    .message(channel: [number], [UInt8](repeating: 0, count: 935))
  }

  private func numbers(_ pushes: [ClientRecord.Push]) -> [UInt8] {
    pushes.map { if case .message(let channel, _) = $0 { channel[0] } else { 255 } }
  }

  @Test func theThreadIsCalledOnceForAllThatIsThere() {
    let outbox = Outbox(limit: 10_000)
    #expect(push(1).byteCount == 1000)
    #expect((1...10).map { outbox.add(push($0)) } == [.call] + [Outbox.Duty](repeating: .nothing, count: 9))
    #expect(numbers(outbox.take()) == Array(1...10))
    #expect(outbox.take().isEmpty)
    #expect(outbox.add(push(11)) == .call)
    #expect(numbers(outbox.take()) == [11])
  }

  @Test func aConnectionThatDoesNotKeepUpIsEndedOnce() {
    let outbox = Outbox(limit: 10_000)
    for number in 1...10 { _ = outbox.add(push(UInt8(number))) }
    #expect(outbox.add(push(11)) == .disconnect)
    #expect(outbox.add(push(12)) == .nothing)
    #expect(outbox.take().isEmpty)
  }
}
