import Glibc

/// What the system says of the call that failed last.
enum SystemReason {
  static var last: String {
    let number = errno
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
