import Glibc
import SharedTable
import TestSupport

/// The living: two readers and two writers that use the table all the time while others die beside them.
final class Peers {
  private let readers: [WorkerProcess]
  private let writers: [WorkerProcess]
  /// The longest that any of them waited for a section, in microseconds.
  private(set) var longestMicroseconds = 0

  init(_ table: Table, timeoutSeconds: Int) throws {
    func start(_ kind: String) throws -> WorkerProcess {
      let worker = try startWorker("kill-peer", [table.name, kind], timeoutSeconds: timeoutSeconds)
      try worker.expectLine("ready")
      return worker
    }
    readers = [try start("reader"), try start("reader")]
    writers = [try start("writer"), try start("writer")]
  }

  enum Kind { case readers, writers, all }

  private func chosen(_ kind: Kind) -> ArraySlice<WorkerProcess> {
    switch kind {
    case .readers: readers[...]
    case .writers: writers[...]
    case .all: (readers + writers)[...]
    }
  }

  /// Each begins a section.
  func begin(_ kind: Kind) throws { for peer in chosen(kind) { try peer.send("go") } }

  func beginOneWriter() throws { try writers[0].send("go") }
  func endOneWriter() throws { try take(writers[0]) }

  /// Each has ended it.
  func end(_ kind: Kind) throws { for peer in chosen(kind) { try take(peer) } }

  /// All make progress.
  func progress(_ kind: Kind = .all) throws {
    try begin(kind)
    try end(kind)
  }

  private func take(_ peer: WorkerProcess) throws {
    let line = try peer.readLine()
    guard let time = Int(line) else {
      throw Unavailable(
        "a living \(peer === writers[0] || peer === writers[1] ? "writer" : "reader") was refused: \(line)")
    }
    longestMicroseconds = max(longestMicroseconds, time)
  }

  func finish() throws { for peer in readers + writers { try peer.finish() } }

  // MARK: - Role

  /// The worker `kill-peer TABLE reader|writer`: a section at each line, answered with the microseconds that it took.
  static func serve(_ arguments: [String]) throws {
    let table = try Table.open(arguments[0], access: .participant, timeout: .seconds(10))
    let isWriter = arguments[1] == "writer"
    var round = 0
    try table.read { _ in }
    say("ready")
    while readLine() != nil {
      round += 1
      // Ends us if the section hangs in a way that no timeout ends.
      alarm(20)
      let begin = ContinuousClock.now
      do {
        if isWriter { try write(table, round) } else { try read(table) }
        say("\(Int((ContinuousClock.now - begin) / Duration.microseconds(1)))")
      } catch {
        say("\(error)")
      }
      alarm(0)
    }
  }

  /// Two keys that are equal in every snapshot.
  private static func read(_ table: Table) throws {
    let pair = try table.read { view in (try view.get("k0", as: Int.self), try view.get("k1", as: Int.self)) }
    guard pair.0 == pair.1, pair.0 != nil, pair.0 != -1 else {
      throw Unavailable("k0 is \(pair.0 as Any), k1 is \(pair.1 as Any)")
    }
    _ = try table.get("k2", as: Int.self)
  }

  private static func write(_ table: Table, _ round: Int) throws {
    try table.barrier { tx in
      let next = (try tx.get("k0", as: Int.self) ?? 0) + 1
      try tx.set("k0", next)
      try tx.set("k1", next)
      for index in 0..<8 { try tx.set("k\(2 + (round * 8 + index) % 500)", next) }
    }
  }
}
