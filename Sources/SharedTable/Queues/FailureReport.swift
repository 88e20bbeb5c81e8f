import Glibc

/// Lines on standard error about failures that nobody looks at, which would otherwise pass unseen.
///
/// Of equal failures in a row only the first, the tenth, the hundredth and so on: what fails thousands of times for one
/// reason must not bury it. Those that differ in numbers alone, such as the time for which another process has held a key, are equal.
final class FailureReport: Sendable {
  private struct Repeated {
    var textWithoutNumbers = ""
    var count = 0
  }

  private let subject: String
  private let last = Locked(Repeated())

  init(_ subject: String) { self.subject = subject }

  func add(_ error: any Error) {
    let text = "\(error)"
    let textWithoutNumbers = text.filter { !$0.isNumber }
    let count = last.withLock { last in
      let isEqual = textWithoutNumbers == last.textWithoutNumbers
      last = Repeated(textWithoutNumbers: textWithoutNumbers, count: isEqual ? last.count + 1 : 1)
      return last.count
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
