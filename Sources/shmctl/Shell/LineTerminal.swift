import Glibc

/// The terminal while a line is edited on it: keys come one by one and are not echoed. It has its own modes back whenever a
/// command runs, and when a signal ends the program.
final class LineTerminal {
  enum Event {
    case bytes(ArraySlice<UInt8>)
    case resized
    /// The terminal is gone.
    case end
  }

  private var saved = termios()
  private var isRaw = false
  private var buffer = [UInt8](repeating: 0, count: 1024)

  /// The signal that has come since the last look; 0 for none.
  nonisolated(unsafe) private static var arrived: Int32 = 0
  private static let handled = [SIGWINCH, SIGTERM, SIGHUP]

  init() throws {
    guard isatty(0) == 1, isatty(1) == 1, unsafe tcgetattr(0, &saved) == 0 else {
      throw Complaint.usage(
        "the interactive mode needs a terminal; 'shmctl batch' takes operations from a file or pipe")
    }
    for number in Self.handled { signal(number) { number in unsafe LineTerminal.arrived = number } }
  }

  deinit { leave() }

  /// Takes the terminal for editing. The signals come only where they are waited for: none is missed, and none interrupts a change
  /// of the modes.
  func enter() {
    guard !isRaw else { return }
    isRaw = true
    setSignals(SIG_BLOCK)
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    _ = unsafe tcsetattr(0, TCSADRAIN, &raw)
  }

  /// Gives it back as it was.
  func leave() {
    guard isRaw else { return }
    isRaw = false
    _ = unsafe tcsetattr(0, TCSADRAIN, &saved)
    setSignals(SIG_UNBLOCK)
  }

  private func setSignals(_ how: Int32) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in Self.handled { unsafe sigaddset(&set, number) }
    _ = unsafe pthread_sigmask(how, &set, nil)
  }

  var width: Int { TerminalSize.of(1).width }

  /// Waits for the next key, or change of size.
  func next() -> Event {
    // One may have come while a command ran.
    if let number = takeSignal(), number != SIGWINCH { die(number) }
    var wanted = fd_set()
    wanted.__fds_bits.0 = 1
    var none = sigset_t()
    unsafe sigemptyset(&none)
    let count = unsafe pselect(1, &wanted, nil, nil, nil, &none)
    if count < 0 {
      if let number = takeSignal(), number != SIGWINCH { die(number) }
      return .resized
    }
    let read = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(0, $0.baseAddress, $0.count) }
    if read < 0, errno == EINTR || errno == EAGAIN { return .resized }
    return read > 0 ? .bytes(buffer[..<read]) : .end
  }

  private func takeSignal() -> Int32? {
    let number = unsafe Self.arrived
    unsafe Self.arrived = 0
    return number == 0 ? nil : number
  }

  /// Ends as the signal would have ended it, so that the shell knows.
  private func die(_ number: Int32) -> Never {
    leave()
    _ = signal(number, SIG_DFL)
    raise(number)
    exit(128 + number)
  }

  func write(_ text: String) throws { try StandardOutput.write(Array(text.utf8)) }

  /// Draws a line over what the row shows.
  func show(_ view: LineView) throws {
    let back = view.column > 0 ? "\r\u{1b}[\(view.column)C" : "\r"
    try write("\r\(view.text)\u{1b}[K\(back)")
  }
}
