import Glibc

enum Pause {
  /// Does nothing for so long, however often a signal comes.
  static func sleep(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    while true {
      let wanted = rest
      let result = unsafe withUnsafePointer(to: wanted) { unsafe nanosleep($0, &rest) }
      if result == 0 || errno != EINTR { return }
    }
  }
}
