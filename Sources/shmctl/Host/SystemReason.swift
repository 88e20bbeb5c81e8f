import Glibc

/// What the system says of a call that failed.
enum SystemReason {
  /// Of the last one.
  static var last: String { of(errno) }

  static func of(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
