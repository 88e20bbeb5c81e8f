import Logging
import Synchronization

/// What was logged: each message with its metadata, as `key=value`.
final class RecordedLog: Sendable {
  private let recorded = Mutex<[String]>([])

  var lines: [String] { recorded.withLock(\.self) }

  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      log.recorded.withLock { $0.append(event.message.description + pairs.joined()) }
    }
  }
}
