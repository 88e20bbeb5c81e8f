import Glibc

/// The terminal while a line is edited on it: keys come one by one and are not echoed. It has its own modes back whenever a
/// command runs, and when a signal ends the program.
final class LineTerminal {
  enum Event {
    case key(KeyDecoder.Key)
    /// Its size is another, or a signal came that means nothing here.
    case resized
    /// The terminal is gone.
    case end
  }

  private var saved = termios()
  private var isRaw = false
  private var buffer = [UInt8](repeating: 0, count: 1024)
  private var decoder = KeyDecoder()
  /// Keys that came with those before them, as at a paste of several lines: they are also the next lines'.
  private var keys: ArraySlice<KeyDecoder.Key> = []

  /// A signal that has come of those that end the program; 0 for none.
  nonisolated(unsafe) private static var ending: Int32 = 0
  /// What Ctrl-C and Ctrl-\ send to every process of the terminal while no line is edited. They are meant for the command.
  private static let typed = [SIGINT, SIGQUIT]
  private static let endings = [SIGTERM, SIGHUP] + typed
  private static let handled = endings + [SIGWINCH]

  init() throws {
    guard isatty(0) == 1, isatty(1) == 1, unsafe tcgetattr(0, &saved) == 0 else {
      throw Complaint.usage(
        "the interactive mode needs a terminal; 'shmctl batch' takes operations from a file or pipe")
    }
    for number in Self.typed {
      signal(number) { number in if unsafe LineTerminal.ending == 0 { unsafe LineTerminal.ending = number } }
    }
    // Instead of one that `enter` may forget.
    for number in [SIGTERM, SIGHUP] { signal(number) { number in unsafe LineTerminal.ending = number } }
    // It only has to interrupt a wait.
    signal(SIGWINCH) { _ in }
  }

  deinit { leave() }

  /// Takes the terminal for editing. Until `leave` the handled signals are blocked, but while `next` waits: one that comes between
  /// its look at `ending` and the wait is not missed, and none interrupts a change of the modes. A Ctrl-C that came before, between
  /// a line and its command, is forgotten: it does not end the program.
  func enter() {
    guard !isRaw else { return }
    isRaw = true
    setSignals(SIG_BLOCK)
    if unsafe Self.typed.contains(Self.ending) { unsafe Self.ending = 0 }
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

  /// Whether `next` has a key without waiting.
  var hasKey: Bool { !keys.isEmpty }

  /// Waits for the next key, or change of size.
  func next() -> Event {
    while true {
      // One may have come while a command ran.
      dieIfTold()
      if let key = keys.popFirst() { return .key(key) }
      var wanted = fd_set()
      wanted.__fds_bits.0 = 1
      var none = sigset_t()
      unsafe sigemptyset(&none)
      guard unsafe pselect(1, &wanted, nil, nil, nil, &none) >= 0 else {
        dieIfTold()
        return .resized
      }
      let read = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(0, $0.baseAddress, $0.count) }
      if read < 0, errno == EINTR || errno == EAGAIN { return .resized }
      guard read > 0 else { return .end }
      keys = decoder.keys(buffer[..<read])[...]
    }
  }

  /// Ends as the signal that came would have ended it, so that the shell knows, but with the terminal's own modes.
  private func dieIfTold() {
    let number = unsafe Self.ending
    guard number != 0 else { return }
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
