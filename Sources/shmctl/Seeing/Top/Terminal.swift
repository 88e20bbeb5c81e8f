import Glibc

/// The terminal while a whole screen is drawn on it: raw input, the alternate screen, no cursor. Whatever ends the command
/// but SIGKILL, the terminal is put back: its end, an error, a signal, a crash.
final class Terminal {
  enum Event: Equatable {
    case key(Character)
    case resized
    /// Ctrl-C, kill, or the terminal is gone.
    case end(Int32)
    case time
  }

  private var pending: [UInt8] = []
  /// Without it there is nothing to put back: an object that was refused is ended, too.
  private var isBegun = false

  /// What the signal handler needs; set before it is installed and never freed.
  nonisolated(unsafe) private static var saved = termios()
  nonisolated(unsafe) private static var signals: [Int32] = [-1, -1]
  nonisolated(unsafe) private static var writeEnd: Int32 = -1

  /// Cursor shown, attributes off, back to the screen from before: ECMA-48 and xterm's private modes.
  private static let leave: StaticString = "\u{1b}[m\u{1b}[?25h\u{1b}[?1049l"
  private static let enter: StaticString = "\u{1b}[?1049h\u{1b}[?25l"
  private static let told = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGPIPE]
  private static let fatal = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE]

  /// - Throws: a complaint if standard input or output is no terminal.
  init() throws {
    guard isatty(0) == 1, isatty(1) == 1, unsafe tcgetattr(0, &Self.saved) == 0 else {
      throw Complaint.usage("top needs a terminal; 'shmctl top --batch 1' prints to a file or pipe")
    }
    guard unsafe pipe(&Self.signals) == 0 else { throw Complaint(.failure, "cannot make a pipe; see 'ulimit -n'") }
    for end in unsafe Self.signals {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    unsafe Self.writeEnd = Self.signals[1]
    for number in Self.told { signal(number) { number in Terminal.tell(number) } }
    for number in Self.fatal { signal(number) { number in Terminal.die(number) } }
    begin()
    isBegun = true
  }

  deinit { if isBegun { Self.restore() } }

  private func begin() {
    var raw = unsafe Self.saved
    // Signals' keys stay signals.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    raw.c_iflag &= ~tcflag_t(IXON)
    _ = unsafe tcsetattr(0, TCSAFLUSH, &raw)
    Self.write(Self.enter)
  }

  /// Safe in a signal handler: write(2) and tcsetattr(3) only.
  private static func restore() {
    write(leave)
    _ = unsafe tcsetattr(0, TCSAFLUSH, &saved)
  }

  private static func write(_ text: StaticString) {
    _ = unsafe Glibc.write(1, text.utf8Start, text.utf8CodeUnitCount)
  }

  // MARK: - Signals

  private static func tell(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe Glibc.write(writeEnd, &byte, 1)
    errno = before
  }

  private static func die(_ number: Int32) {
    restore()
    _ = signal(number, SIG_DFL)
    raise(number)
  }

  /// Ends as the signal would have ended it, so that the shell knows.
  func end(by number: Int32) -> Never {
    Self.restore()
    _ = signal(number, SIG_DFL)
    raise(number)
    exit(128 + number)
  }

  /// Ctrl-Z: gives the terminal back, stops, and takes it again.
  private func suspend() {
    Self.restore()
    kill(getpid(), SIGSTOP)
    begin()
  }

  // MARK: - Use

  var size: TerminalSize { .of(1) }

  /// Draws a frame over the last one: each line is erased to its end, so that nothing flickers and nothing is left.
  func draw(_ lines: [FrameLine], isStyled: Bool) throws {
    let body = lines.map { $0.rendered(isStyled: isStyled) + "\u{1b}[K" }.joined(separator: "\r\n")
    try StandardOutput.write(Array("\u{1b}[H\(body)\u{1b}[J".utf8))
  }

  /// What happens next, in at most so many milliseconds.
  func event(within milliseconds: Int32) -> Event {
    if let key = takeKey() { return .key(key) }
    var wanted = [
      pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
      pollfd(fd: unsafe Self.signals[0], events: Int16(POLLIN), revents: 0),
    ]
    let count = unsafe poll(&wanted, 2, milliseconds)
    guard count > 0 else { return .time }
    if wanted[1].revents != 0 { return signalEvent() }
    var buffer = [UInt8](repeating: 0, count: 64)
    let read = unsafe Glibc.read(0, &buffer, buffer.count)
    if read <= 0 { return read < 0 && errno == EINTR ? .time : .end(SIGHUP) }
    pending += buffer[..<read]
    return takeKey().map { .key($0) } ?? .time
  }

  private func signalEvent() -> Event {
    var byte: UInt8 = 0
    guard unsafe Glibc.read(Self.signals[0], &byte, 1) == 1 else { return .time }
    switch Int32(byte) {
    case SIGWINCH: return .resized
    case SIGTSTP:
      suspend()
      return .resized
    default: return .end(Int32(byte))
    }
  }

  /// A key's byte. An escape sequence is one key that means nothing here; Esc alone comes without anything behind it.
  private func takeKey() -> Character? {
    guard let first = pending.first else { return nil }
    if first == 0x1b, pending.count > 1 {
      pending.removeAll()
      return "\u{0}"
    }
    pending.removeFirst()
    return Character(UnicodeScalar(first))
  }
}
