import Dispatch
import Glibc

/// Failures that nobody looks at, which would otherwise pass unseen: told to the program's handler, or else in lines on standard error.
///
/// They are told one after the other on a thread of Dispatch's, never on a lane. A handler may wait for other work of its queue: on a lane it could
/// wait for what that lane is to do next.
///
/// Lines are written of equal failures in a row only for the first, the tenth, the hundredth and so on: what fails thousands of times for one
/// reason must not bury it. Those that differ in numbers alone, such as the time for which another process has held a key, are equal.
final class FailureReport: Sendable {
  private struct State {
    /// Made with the first failure: most queues have none.
    var teller: DispatchQueue?
    var textWithoutNumbers = ""
    var count = 0
  }

  private let subject: String
  private let handler: (@Sendable (any Error) -> Void)?
  private let state = Locked(State())

  private static let tellerMark = DispatchSpecificKey<Void>()

  /// Is the calling thread telling a handler?
  static var isTelling: Bool { DispatchQueue.getSpecific(key: tellerMark) != nil }

  /// - Parameters:
  ///   - subject: what lines begin with.
  ///   - handler: the program's; nil: lines are written.
  init(_ subject: String, handler: (@Sendable (any Error) -> Void)? = nil) {
    self.subject = subject
    self.handler = handler
  }

  /// Has a failure told. Does not wait for that; a handler of `exit` does, for some seconds (``ExitFlush``).
  func add(_ error: any Error) {
    ExitFlush.telling.enter()
    teller.async { [self] in
      if let handler { handler(error) } else { write(error) }
      ExitFlush.telling.leave()
    }
  }

  private var teller: DispatchQueue {
    state.withLock { state in
      if let teller = state.teller { return teller }
      let teller = DispatchQueue(label: "SharedTable.failures")
      teller.setSpecific(key: Self.tellerMark, value: ())
      state.teller = teller
      return teller
    }
  }

  private func write(_ error: any Error) {
    let text = "\(error)"
    let textWithoutNumbers = text.filter { !$0.isNumber }
    let count = state.withLock { state in
      let isEqual = textWithoutNumbers == state.textWithoutNumbers
      state.textWithoutNumbers = textWithoutNumbers
      state.count = isEqual ? state.count + 1 : 1
      return state.count
    }
    guard Self.isPowerOfTen(count) else { return }
    let times = count == 1 ? "" : " (\(count) times by now)"
    Self.write("\(subject): asynchronous work failed and nobody looked\(times): \(text)")
  }

  /// One call, so that lines of several threads stay whole. If it cannot be written there is nobody to tell.
  static func write(_ line: String) {
    let bytes = Array("SharedTable: \(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static func isPowerOfTen(_ count: Int) -> Bool {
    var power = 1
    while power < count { power *= 10 }
    return power == count
  }
}
