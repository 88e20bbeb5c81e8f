import Testing

@testable import RESPServer

/// A thread that waits for a task.
@Suite struct BlockingCallTests {
  @Test(arguments: [Duration.seconds(600), .seconds(Int64.max)]) func waitsHoweverLongItMay(_ time: Duration) {
    #expect(BlockingCall.wait(atMost: time) { 7 } == 7)
  }

  @Test func cancelsTheTaskAfterTheTime() async {
    let (cancelled, continuation) = AsyncStream.makeStream(of: Void.self)
    let answer = BlockingCall.wait(atMost: .milliseconds(1)) {
      try? await Task.sleep(for: .seconds(3600))
      continuation.yield()
      return 7
    }
    #expect(answer == nil)
    await cancelled.first { true }
  }
}
