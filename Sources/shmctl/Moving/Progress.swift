import Glibc

/// How far a long command is: on a terminal only, on standard error, one line that is taken away at the end.
struct Progress {
  private let what: String
  private let total: UInt64
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var shown: ContinuousClock.Instant
  private var isDrawn = false

  /// - Parameter total: about how many there will be; 0 if nobody knows.
  init(_ what: String, total: UInt64, quiet: Bool) {
    self.what = what
    self.total = total
    isShown = !quiet && isatty(2) == 1
    shown = start
  }

  /// Called as often as one likes; draws five times a second.
  mutating func reached(_ count: UInt64) {
    guard isShown else { return }
    let now = ContinuousClock.now
    guard now - shown >= .milliseconds(200), Self.isReady else { return }
    shown = now
    isDrawn = true
    // In one row: what is wrapped could not be taken away.
    let line = Self.line(what, count, of: total, after: now - start).prefix(max(8, TerminalSize.of(2).width - 1))
    // Nobody is left to be told if this fails.
    _ = try? Descriptor.writeAll(2, Array("\r\u{1b}[K\(line)".utf8))
  }

  /// Whether a line goes to the terminal at once: it may be drawn inside a section, for which writers wait. A terminal that was stopped by
  /// Ctrl-S would block this process, and one that takes nothing from the background (`stty tostop`) would stop it.
  private static var isReady: Bool {
    var terminal = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&terminal, 1, 0) == 1, terminal.revents & Int16(POLLOUT) != 0 else { return false }
    let foreground = tcgetpgrp(2)
    return foreground < 0 || foreground == getpgrp()
  }

  mutating func end() {
    guard isDrawn else { return }
    isDrawn = false
    _ = try? Descriptor.writeAll(2, Array("\r\u{1b}[K".utf8))
  }

  /// `dump: 450000 of 1000000 keys (45%), 900000 a second, 1 s left`
  static func line(_ what: String, _ count: UInt64, of total: UInt64, after time: Duration) -> String {
    let milliseconds = max(1, time / .milliseconds(1))
    let rate = UInt64(Double(count) * 1000 / milliseconds)
    guard total > 0, count <= total else { return "\(what): \(count) keys, \(rate) a second" }
    let seconds = rate == 0 ? nil : (total - count + rate - 1) / rate
    let left =
      seconds.map { ", \(Phrase.time($0.multipliedReportingOverflow(by: 1_000_000_000).partialValue)) left" } ?? ""
    return "\(what): \(count) of \(total) keys (\(count * 100 / total)%), \(rate) a second\(left)"
  }
}
