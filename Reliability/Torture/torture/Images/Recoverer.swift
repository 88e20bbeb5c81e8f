import CTrace
import Glibc
import SharedTable
import TableEngine
import TestSupport

/// Recovers images under trace: second-level images, of recoverers that die.
final class Recoverer {
  private(set) var recoveries = 0
  private(set) var images = 0
  private let pair: ImagePair
  private let watched: WatchedTable
  private let server: Tracee
  private let judges: Judges

  init(table: String, _ judges: Judges) throws {
    let name = table + ".recovered"
    self.judges = judges
    pair = ImagePair(name)
    watched = WatchedTable(name)
    server = try Tracee(
      "image-recoverer", [name], environment: TracedOperation.environment, options: Int32(CT_TRACE_FORK),
      timeoutSeconds: 24 * 3600)
    try server.runToMarker(Marker.turn)
  }

  deinit { removeObjects(ofTable: pair.table) }

  /// Recovers one image, and has an image judged at each change on the way.
  func recover(
    _ traced: TracedOperation, dead marks: [StoreTrace.Mark], _ place: String, _ isChosen: () -> Bool
  ) throws {
    try pair.write(traced.table, dead: marks)
    recoveries += 1
    let child = try fork()
    try child.runToMarker(Marker.begin)
    // What was not committed never will be: from now on the table holds what it held before, at whatever version.
    let job = traced.job(isDecided: true)
    var changes = 0
    try withoutActuallyEscaping(isChosen) { isChosen in
      let trace = StoreTrace(child, watched) { [judges, watched] cause, marks in
        changes += 1
        if isChosen() {
          try judges.judge(watched, dead: marks, job, "\(place), recovery's change \(changes) (\(cause))")
        }
      }
      try trace.run(to: Marker.end)
    }
    images += changes
    try child.finish()
    // The end of its child is a signal to the server.
    _ = try server.wait(tid: server.pid)
    try server.runToMarker(Marker.turn)
  }

  private func fork() throws -> Tracee {
    guard case .event(Int32(CT_EVENT_FORK), let child) = try server.next(.run) else {
      throw server.failure("did not fork")
    }
    let tracee = try Tracee(forkedBy: server, child)
    try server.resume(.run, tid: server.pid)
    return tracee
  }
}

/// The worker: `image-recoverer IMAGE`. At each turn a child of it opens the image and, between markers, recovers it.
let serveImageRecoverer: @Sendable ([String]) throws -> Void = { arguments in
  while true {
    ct_mark(Marker.turn, 0)
    let child = ct_fork()
    if child == 0 {
      let table = try Table.open(arguments[0], access: .participant, timeout: .seconds(10))
      ct_mark(Marker.begin, 0)
      // No pass of gc: what is traced is the recovery, and nothing if there is nothing to recover.
      let isDone = try table.administration.maintain(passes: 0) != nil
      ct_mark(Marker.end, 0)
      guard isDone else { throw Unavailable("the lock of a dead writer is held") }
      return
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
  }
}
