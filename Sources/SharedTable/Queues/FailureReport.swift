import Dispatch
import Glibc
import SharedMemory

/// Tells the failures of asynchronous work whose results the program has let go unread: calls the program's handler, or else writes lines on standard
/// error. Nobody else would see them.
///
/// A thread of Dispatch's calls the handler with one failure after the other; a lane never does. The handler may wait for other work of its queue:
/// on a lane it could wait for what that lane is to do next. The thread on which the work failed writes the lines: for that it runs no code of
/// the program's.
///
/// Of equal failures in a row it writes only the first, the tenth, the hundredth and so on: thousands of lines of one reason would bury all
/// others. Those that differ in numbers alone, such as the time for which another process has held a key, are equal.
final class FailureReport: Sendable {
  private struct State {
    /// How many failures wait for the handler.
    var untold = 0
    /// Made with the first failure: most queues have none.
    var teller: DispatchQueue?
    var textWithoutNumbers = ""
    var count = 0
  }

  private let subject: String
  private let handler: (@Sendable (any Error) -> Void)?
  private let state = Locked(State())

  /// How many failures wait at most for a handler that is slow; those beyond are lines.
  private static let mostUntold = 10_000

  /// Entered for each failure that a handler is to be told, left when it has returned.
  static let telling = DispatchGroup()

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

  /// Has a failure told, or writes it. Does not wait for a handler; one of `exit` does, for some seconds (``ExitFlush``).
  func add(_ error: any Error) {
    guard let handler, let teller = tellerOfOneMore() else { return write(error) }
    Self.telling.enter()
    teller.async { [self] in
      let process = ForkGeneration()
      handler(error)
      // A child that was forked in the handler ends: this thread, and whatever it would go on with, is its parent's.
      if !process.isOfThisProcess { _exit(0) }
      state.withLock { $0.untold -= 1 }
      Self.telling.leave()
    }
  }

  /// Counts one more failure to tell. Nil: the handler has too many before it.
  private func tellerOfOneMore() -> DispatchQueue? {
    state.withLock { state in
      guard state.untold < Self.mostUntold else { return nil }
      state.untold += 1
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
