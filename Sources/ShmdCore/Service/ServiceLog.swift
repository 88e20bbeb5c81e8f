import Glibc
import Logging
import SharedMemory
import Synchronization
import ToolSupport

/// Log lines on standard error: `message key=value …`, one line each.
///
/// Under systemd each begins with its priority, `<6>`, which the journal takes off again; elsewhere with time and
/// level. Which of the two is decided as sd-daemon(3) says: `JOURNAL_STREAM` names what standard error leads to.
public struct ServiceLog: LogHandler {
  /// The level of every logger made from this: the configuration changes it while they are in use.
  public final class Threshold: Sendable {
    private let level = Mutex(Logger.Level.info)

    public init() {}
    public var value: Logger.Level {
      get { level.withLock { $0 } }
      set { level.withLock { $0 = newValue } }
    }
  }

  public var metadata: Logger.Metadata = [:]
  public var metadataProvider: Logger.MetadataProvider?
  private let threshold: Threshold
  private let forJournal: Bool

  public init(_ threshold: Threshold) {
    self.threshold = threshold
    forJournal = Self.leadsToJournal
  }

  static var leadsToJournal: Bool {
    guard let stream = HostProcess.environment("JOURNAL_STREAM") else { return false }
    return stream == Descriptor.identity(of: STDERR_FILENO)
  }

  /// The threshold is shared on purpose: a value set through one logger holds for all.
  public var logLevel: Logger.Level {
    get { threshold.value }
    set { threshold.value = newValue }
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    var all = metadata
    if let provider = metadataProvider { all.merge(provider.get()) { $1 } }
    if let own = event.metadata { all.merge(own) { $1 } }
    let fields = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
    Self.write("\(event.message)\(fields)", event.level, forJournal: forJournal)
  }

  /// A line outside any logger: a complaint before there is a service.
  static func write(_ text: String, _ level: Logger.Level, forJournal: Bool) {
    let start = forJournal ? "<\(level.priority)>" : "\(timestamp(HostClock.realtimeNanoseconds)) \(level.rawValue) "
    WholeWrite.write("\(start)\(text.printable)\n".utf8, to: STDERR_FILENO, waits: false)
  }

  private static func quoted(_ value: String) -> String {
    guard value.isEmpty || value.contains(where: { " \"=".contains($0) }) else { return value }
    return "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// `2026-11-21T01:25:33.042Z`.
  static func timestamp(_ nanoseconds: UInt64) -> String {
    let milliseconds = Int(nanoseconds / 1_000_000)
    // Days since 0000-03-01, in eras of 400 years, so that the leap day is a year's last.
    let shifted = milliseconds / 86_400_000 + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let ofDay = milliseconds % 86_400_000
    let date = [padded(year, 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
    let time = [ofDay / 3_600_000, ofDay / 60_000 % 60, ofDay / 1000 % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(time).\(padded(ofDay % 1000, 3))Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension Logger.Level {
  /// syslog(3)'s number.
  fileprivate var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
