public import SharedTable
import SharedMemory
import Synchronization
import TableEngine

/// Keeps the store of one living table, in a thread of its own, until it is stopped.
///
/// The thread alone waits for the disk. A writer pays for a wake-up at most where the thread sleeps, and reading the log costs it
/// nothing. In the rwlock variant a barrier waits while the thread copies what changed since the last sync, as it waits for any reader.
public final class StoreKeeper: Sendable {
  /// What there is to say about it, once each.
  public enum Event: Sendable {
    case compared
    case newFile
    case failed(StoreError)
    case recovered
  }

  public let table: Table
  public let directory: StoreDirectory
  private let report: @Sendable (Event) -> Void
  private let state: Mutex<State>
  /// Wakes the thread: when it is to stop, or to do otherwise.
  private let alarm = Alarm()

  private struct State {
    var mode: StoreMode
    var stops = false
    var hasEnded = false
    var status = StoreStatus()
    var waiting: [@Sendable () -> Void] = []
  }

  /// Begins.
  /// - Parameter report: is called in the keeper's thread.
  /// - Throws: `system` if no thread can be started.
  public init(
    _ table: Table, _ mode: StoreMode, in directory: StoreDirectory, report: @escaping @Sendable (Event) -> Void
  ) throws(StoreError) {
    self.table = table
    self.directory = directory
    self.report = report
    state = Mutex(State(mode: mode))
    let argument = unsafe Unmanaged.passRetained(self)
    do throws(SystemError) {
      try unsafe ServiceThread.start(argument.toOpaque()) { argument in
        ServiceThread.name("shmd-store")
        // The keeper's thread lets go of the table before it says that it has ended: the daemon's thread, which waits for that, may need the
        // table's room for another one.
        let waiting = unsafe Unmanaged<StoreKeeper>.fromOpaque(argument!).takeRetainedValue().run()
        for body in waiting { body() }
        return nil
      }
    } catch {
      unsafe argument.release()
      throw StoreError(.system, directory.path, "\(error); raise the limit of threads")
    }
  }

  public var status: StoreStatus {
    var (status, mode) = state.withLock { ($0.status, $0.mode) }
    status.interval = mode.interval
    (status.durable, status.version) = (table.durableVersion, table.version)
    return status
  }

  /// It was stopped, and stores no more.
  public var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// What the thread goes by.
  public var mode: StoreMode {
    get { state.withLock { $0.mode } }
    set {
      state.withLock { $0.mode = newValue }
      alarm.ring()
    }
  }

  /// Stores what is left and ends. Returns at once; `body` is called when it is over, in the keeper's thread.
  public func stop(_ body: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      state.stops = true
      if !state.hasEnded { state.waiting.append(body) }
      return state.hasEnded
    }
    if hasEnded { return body() }
    alarm.ring()
  }

  /// As ``stop(_:)``, but waits until it is over, which is as long as the disk takes.
  /// - Parameter beat: this thread calls it at times meanwhile, so that a daemon can ping its watchdog.
  public func stopAndWait(_ beat: () -> Void = {}) {
    let done = Alarm()
    stop { done.ring() }
    done.wait(beat)
  }

  // MARK: - The thread

  /// - Returns: what is to be called when it is over.
  private func run() -> [@Sendable () -> Void] {
    var loop = StoreLoop(table, directory)
    while true {
      let seen = alarm.event.value
      let (mode, stops) = state.withLock { ($0.mode, $0.stops) }
      let pause = stops ? loop.finish() : loop.step(mode) { status in state.withLock { $0.status = status } }
      tell(&loop)
      if stops, pause == .none { break }
      rest(pause, seen)
    }
    loop.close()
    return state.withLock { state in
      state.hasEnded = true
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func tell(_ loop: inout StoreLoop) {
    state.withLock { $0.status = loop.status }
    for event in loop.takeEvents() { report(event) }
  }

  private func rest(_ pause: StoreLoop.Pause, _ seen: UInt32) {
    var events: [FutexEvent.Seen] = [(alarm.event, seen)]
    let nanoseconds: UInt64
    switch pause {
    case .none: return
    case .time(let time): nanoseconds = time
    case .untilCommit(let version, let time):
      nanoseconds = time
      let segment = table.segment
      segment.announceWait(after: version)
      if segment.committed != version { return }
      events.append((segment.commitEvent, UInt32(truncatingIfNeeded: version)))
    }
    FutexEvent.wait(whileAll: events, timeoutNanoseconds: nanoseconds)
  }
}

/// A futex of this process.
@safe
final class Alarm: @unchecked Sendable {
  // Sendable because the word is only changed by atomics, and its address never.
  private let word: UnsafeMutableRawPointer
  let event: FutexEvent

  init() {
    unsafe word = .allocate(byteCount: 8, alignment: 8)
    unsafe word.storeBytes(of: 0, as: UInt64.self)
    unsafe event = FutexEvent(at: word)
  }

  deinit { unsafe word.deallocate() }

  func ring() { event.advance() }

  /// Waits for the first ring.
  /// - Parameter beat: called each second meanwhile.
  func wait(_ beat: () -> Void) {
    while event.value == 0 {
      _ = event.wait(while: 0, timeoutNanoseconds: 1_000_000_000)
      beat()
    }
  }
}
