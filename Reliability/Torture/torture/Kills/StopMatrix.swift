import CTrace
import SharedTable
import TestSupport

/// G5 beside a process that is stopped and not dead: at each instruction of its window it stands still, as by SIGSTOP,
/// while the living go on; then it goes on itself, and all is well.
///
/// One victim goes through a window: it is not consumed. In a barrier only readers are asked: a stopped writer keeps
/// the others waiting, since it may still go on.
enum StopMatrix {
  static let item = Item(
    "kills.stopped-rcu", "a stop at each instruction of: read, get, barrier, register, thread-exit"
  ) {
    run in
    for window in [KillWindow.read, .get, .barrier, .register, .threadExit] {
      try withTableName { name in
        let table = try Table.create(name, .init(variant: .rcu, capacityBytes: 8 << 20), timeout: .seconds(30))
        try stop(run, window, table)
      }
    }
  }

  private static func stop(_ run: Run, _ window: KillWindow, _ table: Table) throws {
    let matrix = try KillMatrix(run, window, table)
    let victim = try matrix.prepare()
    var stops = 0
    while try victim.step() {
      stops += 1
      try matrix.examine { try matrix.peers.progress(window == .barrier ? .readers : .all) }
    }
    try victim.finish()
    try matrix.depart()
    try matrix.examine { try matrix.peers.progress() }
    try matrix.checkTable()
    try matrix.peers.finish()
    run.row(
      "\(window.rawValue), stopped", "rcu", "\(stops)", "\(stops)", milliseconds(matrix.peers.longestMicroseconds),
      "\(matrix.failures)")
  }
}
