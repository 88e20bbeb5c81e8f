import Dispatch
import Testing

@testable import RESPServer

/// A thread that waits for a task.
///
/// As a lane's, it is none of Swift's pool. The pool has a thread for each core: if tests blocked as many of them for tasks' ends, no
/// task would run.
@Suite struct BlockingCallTests {
  private func onAThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
  }

  @Test(arguments: [Duration.seconds(600), .seconds(Int64.max)]) func waitsHoweverLongItMay(_ time: Duration) async {
    #expect(await onAThreadOfItsOwn { BlockingCall.wait(atMost: time) { 7 } } == 7)
  }

  @Test func cancelsTheTaskAfterTheTime() async {
    let (cancelled, continuation) = AsyncStream.makeStream(of: Void.self)
    let answer = await onAThreadOfItsOwn {
      BlockingCall.wait(atMost: .milliseconds(1)) {
        try? await Task.sleep(for: .seconds(3600))
        continuation.yield()
        return 7
      }
    }
    #expect(answer == nil)
    await cancelled.first { true }
  }
}
