public import Glibc
import SharedMemory
import Synchronization

/// A thread of its own that runs a closure, for what blocks. Joined by ``join()``, or when this object goes.
public final class TestThread<Output: Sendable>: Sendable {
  private final class State: Sendable {
    let number = Atomic<Int32>(0)
    let outcome = Mutex<Result<Output, any Error>?>(nil)
  }

  private let state: State
  private let thread: Mutex<pthread_t?>

  public init(_ body: @escaping @Sendable () throws -> Output) {
    let state = State()
    self.state = state
    let thread = startThread {
      state.number.store(ProcessIdentity.tid, ordering: .releasing)
      let outcome = Result { try body() }
      state.outcome.withLock { $0 = outcome }
    }
    self.thread = Mutex(thread)
  }

  deinit { joinQuietly() }

  /// What it throws is of no concern.
  public func joinQuietly() {
    if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
  }

  /// What the closure returned, or threw.
  @discardableResult
  public func join() throws -> Output {
    joinQuietly()
    return try state.outcome.withLock { $0! }.get()
  }

  /// Returns when the thread sleeps in a system call, or has ended. One that does neither for ten minutes ends the process.
  public func waitUntilAsleep() {
    func isAsleep() -> Bool {
      let number = state.number.load(ordering: .acquiring)
      return number != 0 && TestThread<Void>.isAsleep(number)
    }
    let isSeen = goOn(within: .seconds(600), until: isAsleep) { sched_yield() }
    precondition(isSeen, "the thread was never seen asleep")
  }
}

extension TestThread where Output == Void {
  /// The calling thread's number, for ``isAsleep(_:)``.
  public static var currentNumber: Int32 { ProcessIdentity.tid }

  /// Whether the thread of this process with that number sleeps in a system call, or has ended.
  public static func isAsleep(_ number: Int32) -> Bool {
    guard let stat = fopen("/proc/self/task/\(number)/stat", "r") else { return true }
    defer { fclose(stat) }
    var line = [CChar](repeating: 0, count: 512)
    fgets(&line, Int32(line.count), stat)
    let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.lastIndex(of: ")").map { "SZX".contains(text[$0...].dropFirst(2).prefix(1)) } ?? false
  }
}

/// Runs `body` on so many threads at once: each begins when all are there.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let arrived = Atomic(0)
  let threads = (0..<count).map { index in
    startThread {
      arrived.add(1, ordering: .acquiringAndReleasing)
      while arrived.load(ordering: .acquiring) < count { sched_yield() }
      body(index)
    }
  }
  for thread in threads { pthread_join(thread, nil) }
}

/// A thread of the system that runs `body`; it has to be joined.
/// - Parameter stackBytes: nil for the system's default.
public func startThread(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
  var thread = pthread_t()
  let started = pthread_create(
    &thread, &attributes,
    { argument in
      Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Start(body)).toOpaque())
  precondition(started == 0, "no thread: \(started)")
  return thread
}
