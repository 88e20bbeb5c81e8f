import Glibc

/// How large the terminal behind a descriptor is, in characters; 80×24 where nobody knows.
struct TerminalSize {
  let width: Int
  let height: Int

  static func of(_ descriptor: Int32) -> TerminalSize {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return TerminalSize(width: 80, height: 24)
    }
    return TerminalSize(width: Int(size.ws_col), height: Int(size.ws_row))
  }
}
