import CTrace
import Glibc

/// A victim at the beginning of its window, and how it is taken further.
final class Stage {
  private let victim: Tracee
  private let window: KillWindow
  /// The thread that goes through the window, where that is not the first one.
  private var thread: Int32?
  private var isThreadOver = false

  init(_ victim: Tracee, _ window: KillWindow) throws {
    (self.victim, self.window) = (victim, window)
    if window == .threadExit { try runToThread() } else { try victim.runToMarker(Marker.begin) }
  }

  /// Takes the victim `point` instructions into the window; a system call counts twice, at its entry and its exit.
  /// - Returns: false if the window ended before.
  func advance(_ point: Int, calls: [Int]) throws -> Bool {
    // The way up to the neighbourhood goes faster: from call to call, and then without a look at each instruction.
    let near = max(0, point - Self.neighbourhood)
    let passed = calls.prefix { $0 <= near }
    for _ in passed {
      switch try victim.stepToCall() {
      case .syscallEntry, .syscallExit: continue
      default: return false
      }
    }
    let rest = near - (passed.last ?? 0)
    // Not from a call's entry: its exit is the next stop.
    if rest > 0, passed.count % 2 == 0, try !victim.leap(rest) {
      isThreadOver = thread != nil
      return false
    }
    for _ in near..<point where try !step() { return false }
    return true
  }
  private static let neighbourhood = 48

  /// Goes through the whole window.
  func profile(_ watched: WatchedTable) throws -> Profile {
    var profile = Profile()
    _ = watched.refresh()
    while try step() {
      profile.count += 1
      if isAtCall { profile.calls.append(profile.count) }
      if watched.refresh() { profile.stores.append(profile.count) }
    }
    return profile
  }

  struct Profile {
    /// Steps from the beginning to the end.
    var count = 0
    /// Those that end at a system call's entry or exit.
    var calls: [Int] = []
    /// Those that changed the table.
    var stores: [Int] = []
  }
  private var isAtCall = false

  /// - Returns: false at the window's end.
  func step() throws -> Bool {
    isAtCall = false
    switch try victim.step() {
    case .syscallExit:
      isAtCall = true
      return true
    case .syscallEntry(let number, let arguments):
      isAtCall = true
      return Tracee.markerCode(number, arguments) != Marker.end
    case .exited, .killed:
      isThreadOver = true
      return false
    default: return true
    }
  }

  /// Lets the process go on to its end.
  func finish() throws {
    guard thread != nil else { return try victim.finish() }
    // The first thread runs already.
    while victim.end == nil {
      switch try victim.wait(tid: victim.pid) {
      case .exited, .killed: break
      default: try victim.resume(.run)
      }
    }
  }

  func kill() throws {
    _ = ct_kill(victim.pid)
    // The process is not reaped before its threads are.
    while let thread, !isThreadOver {
      switch try victim.wait(tid: thread) {
      case .exited, .killed: isThreadOver = true
      default: try? victim.resume(.run, tid: thread)
      }
    }
    victim.kill()
  }

  /// Runs until the second thread stands behind the first marker.
  private func runToThread() throws {
    while thread == nil {
      switch try victim.next(.run) {
      case .event(Int32(CT_EVENT_CLONE), let tid): thread = Int32(truncatingIfNeeded: tid)
      case .signal, .groupStop, .stepped, .syscallEntry, .syscallExit, .event: continue
      case let end: throw victim.failure("ended before its thread: \(end)")
      }
    }
    // It stops by itself at first. The first thread waits for its end.
    _ = try victim.wait(tid: thread!)
    try victim.resume(.run, tid: victim.pid)
    victim.use(thread!)
    try victim.runToMarker(Marker.begin)
  }
}
