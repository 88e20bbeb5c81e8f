import TableMetrics

extension TableSample {
  /// The processes of one command that take part.
  struct Participant: Sendable {
    let command: String
    var processes = 0
    var threads = 0
    /// Threads and snapshots that are at a version just now.
    var reading = 0
    /// Threads that wait for a barrier, for keys, or for old readers.
    var waiting = 0
  }

  /// By command, the one with the most threads first.
  var participants: [Participant] {
    var found: [String: Participant] = [:]
    for process in figures.processes {
      found[process.command, default: Participant(command: process.command)].processes += 1
      found[process.command]?.threads += process.threads
    }
    for reader in statistics.readers {
      if reader.version != nil { found[reader.holder.command]?.reading += 1 }
      if reader.wait != nil { found[reader.holder.command]?.waiting += 1 }
    }
    return found.values.sorted { ($1.threads, $0.command) < ($0.threads, $1.command) }
  }
}
