import CTrace
import Glibc
import SharedTable
import TableEngine

/// What a victim does between the markers, where it is killed.
enum KillWindow: String, CaseIterable {
  /// A read section's entry and exit.
  case read
  /// A single get.
  case get
  /// The writer's lock and unlock, around a barrier of one key.
  case barrier
  /// A thread's first use of the table: it claims a slot.
  case register
  /// The end of a thread that has a slot.
  case threadExit = "thread-exit"
  case attach
  case detach
  /// The exit of a section that a living writer waits for.
  case exitAwaited = "reader-awaited"
  /// The exit of a barrier that living readers wait for.
  case commitAwaited = "writer-awaited"
  /// The barrier after a death in a barrier: undo and, with locks, the generation switch.
  case recovery

  static func isOf(_ window: Self, _ variant: Table.Variant) -> Bool {
    switch window {
    case .exitAwaited, .commitAwaited: variant == .rwlock
    default: true
    }
  }
}

/// The worker `kill-server TABLE WINDOW`: at each turn a child of it, a new process to the table, goes through the
/// window once. Forked and not started anew, because a thousand starts cost more than what they are for.
enum Victim {
  static func serve(_ arguments: [String]) throws {
    // What only a first use does: the children shall not all do it in the window.
    let warm = try Table.temporary()
    try warm.barrier { tx in try tx.set("k", 1) }
    _ = try warm.get("k", as: Int.self)
    _ = try warm.read { view in try view.get("k", as: Int.self) }
    _ = try Table.temporary().get("k", as: Int.self)
    while true {
      ct_mark(Marker.turn, 0)
      let child = ct_fork()
      if child == 0 {
        try live(arguments[0], arguments[1])
        return
      }
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }
  }

  nonisolated(unsafe) private static var opened: Table?

  private static func live(_ name: String, _ window: String) throws {
    if window == KillWindow.attach.rawValue {
      ct_mark(Marker.begin, 0)
      opened = try Table.open(name, access: .participant)
      ct_mark(Marker.end, 0)
      return
    }
    opened = try Table.open(name, access: .participant, timeout: .seconds(30))
    let table = opened!
    if window != KillWindow.register.rawValue && window != KillWindow.threadExit.rawValue {
      _ = try table.get("k0", as: Int.self)
    }
    try pass(table, window)
  }

  private static func pass(_ table: Table, _ window: String) throws {
    // Of the dead whose recovery is watched.
    guard let window = KillWindow(rawValue: window) else {
      return try table.barrier { tx in
        for index in 0..<3 { try tx.set("k\(index)", -1) }
        ct_mark(Marker.begin, 0)
      }
    }
    switch window {
    case .get, .register:
      ct_mark(Marker.begin, 0)
      _ = try table.get("k0", as: Int.self)
      ct_mark(Marker.end, 0)
    case .read:
      ct_mark(Marker.begin, 0)
      try table.read { _ in }
      ct_mark(Marker.end, 0)
    case .barrier, .recovery:
      ct_mark(Marker.begin, 0)
      try table.barrier { tx in try tx.set("victim", 1) }
      ct_mark(Marker.end, 0)
    case .exitAwaited:
      try table.read { _ in ct_mark(Marker.begin, 0) }
      ct_mark(Marker.end, 0)
    case .commitAwaited:
      try table.barrier { tx in
        try tx.set("victim", 1)
        ct_mark(Marker.begin, 0)
      }
      ct_mark(Marker.end, 0)
    case .threadExit: try endThread(table)
    case .detach:
      ct_mark(Marker.begin, 0)
      opened = nil
      ct_mark(Marker.end, 0)
    case .attach: break
    }
  }

  private static func endThread(_ table: Table) throws {
    opened = table
    var thread = pthread_t()
    let made = pthread_create(
      &thread, nil,
      { _ in
        _ = try? Victim.opened!.get("k0", as: Int.self)
        ct_mark(Marker.begin, 0)
        return nil
      }, nil)
    guard made == 0 else { throw Unavailable("pthread_create") }
    pthread_join(thread, nil)
  }
}
