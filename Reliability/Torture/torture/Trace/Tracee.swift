import CTrace
import Dispatch
import Glibc
import Synchronization
import TestSupport

/// A worker that runs only as far as it is told: traced from its first instruction (ptrace).
///
/// Worker and tracer agree on what is traced by markers: the worker calls `ct_mark(CODE, VALUE)` before and after it, a
/// system call without effect, and the tracer runs it to one with ``runToMarker(_:)``, or meets its entry while it steps.
///
/// Whatever goes wrong, the process is killed and reaped: when this object goes, when the tracer dies, or when its time
/// is over, which turns a hang into a failure. A tracee obeys only the thread that started it: do not hand it on.
final class Tracee {
  /// What the process stopped at, or how it ended.
  enum Stop: Equatable {
    case exited(Int32)
    case killed(Int32)
    /// Before a signal is delivered: pass it on with the next resumption, or it is lost. The address of a fault.
    case signal(Int32, address: UInt64)
    case stepped
    case syscallEntry(number: UInt64, arguments: [UInt64])
    case syscallExit(result: Int64)
    /// CT_EVENT_*; the new thread or process, or the exit status.
    case event(Int32, message: UInt64)
    case groupStop(Int32)
  }

  enum Resumption {
    case run, toSyscall, step
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let pid: Int32
  /// The thread that stopped last; new ones come with an event and stop by themselves at first.
  private(set) var tid: Int32
  /// Address of a system call instruction, once a marker was passed.
  private(set) var gadget: UInt64 = 0
  /// Those that it started on its way to a marker: they run freely.
  private(set) var freeThreads: [Int32] = []
  /// How the process ended, once it has.
  private(set) var end: Stop?

  /// Leads a process group of its own, in which its threads are.
  private let isGroup: Bool
  private let input: Int32
  private let output: Int32
  private let life: Life

  /// Shared with the watchdog, which may fire while this object goes.
  private final class Life: Sendable {
    let state = Mutex((isReaped: false, isOverdue: false))
    func killOverdue(_ pid: Int32) {
      state.withLock { state in
        guard !state.isReaped else { return }
        state.isOverdue = true
        _ = ct_kill(pid)
      }
    }
    static func watched(_ pid: Int32, _ seconds: Int) -> Life {
      let life = Life()
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { @Sendable in life.killOverdue(pid) }
      return life
    }
  }

  /// Starts `torture worker ROLE ...`. It is stopped at its first instruction.
  /// - Parameter options: `CT_TRACE_EXIT`, `CT_TRACE_FORK`: more events to stop at.
  /// - Throws: `Unavailable` on a machine whose registers we do not know.
  init(
    _ role: String, _ arguments: [String] = [], environment: [String: String] = [:], options: Int32 = 0,
    timeoutSeconds: Int = 120
  ) throws {
    guard ct_is_available() else { throw Unavailable("tracing is written for x86-64 and aarch64 only") }
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw Failure(description: "socketpair: \(String(cString: strerror(errno)))")
    }
    // A nameless file: the tracee can never block on it.
    var template = Array("/tmp/tracee-XXXXXX".utf8CString)
    output = mkstemp(&template)
    _ = fcntl(output, F_SETFD, FD_CLOEXEC)
    unlink(template)
    input = pair[1]
    defer { close(pair[0]) }

    let path = WorkerProcess.productDirectory + "/torture"
    let words = [path, "worker", role] + arguments
    var variables = ["SWIFT_BACKTRACE=enable=no"] + environment.map { "\($0)=\($1)" }
    var inherited = environ
    while let variable = inherited.pointee {
      variables.append(String(cString: variable))
      inherited += 1
    }
    let argv = words.map { strdup($0) } + [nil]
    let envp = variables.map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    let child = ct_start(path, argv, envp, pair[0], output, output, options)
    guard child > 0 else {
      close(input)
      close(output)
      throw Unavailable("cannot trace a process here: \(String(cString: strerror(-child)))")
    }
    (pid, tid, isGroup) = (child, child, true)
    life = Life.watched(child, timeoutSeconds)
  }

  /// Takes over the process that a tracee, started with `CT_TRACE_FORK`, has just forked: at the event of that number.
  /// It is traced already, and stopped at its first instruction; its parent may go on.
  init(forkedBy parent: Tracee, _ child: UInt64) throws {
    (pid, tid, isGroup) = (Int32(truncatingIfNeeded: child), Int32(truncatingIfNeeded: child), false)
    gadget = parent.gadget
    input = dup(parent.input)
    output = dup(parent.output)
    life = Life.watched(pid, 600)
    _ = try wait(tid: pid)
  }

  deinit {
    kill()
    close(input)
    close(output)
  }

  // MARK: - Running

  /// Lets a thread go on, the last one that stopped if none is named.
  func resume(_ how: Resumption, delivering signal: Int32 = 0, tid: Int32? = nil) throws {
    let thread = tid ?? self.tid
    switch how {
    case .run: try check(ct_continue(thread, signal), "continue")
    case .toSyscall: try check(ct_continue_to_syscall(thread, signal), "continue")
    case .step: try check(ct_step(thread, signal), "step")
    }
  }

  /// Waits for the next stop of a thread, or of any (nil); `tid` is then the one.
  func wait(tid thread: Int32? = nil) throws -> Stop {
    var status = ct_status()
    try check(ct_wait(pid, thread ?? (isGroup ? 0 : pid), &status), "wait")
    tid = status.tid
    let stop = try decode(status)
    switch stop {
    case .exited, .killed:
      // A thread that ends while others live is not the process.
      if status.tid == pid {
        end = stop
        life.state.withLock { $0.isReaped = true }
      }
    default: break
    }
    return stop
  }

  /// From here on a stopped thread counts as the one that stopped last.
  func use(_ thread: Int32) { tid = thread }

  /// Lets the thread that stopped last go on, to its next stop.
  func next(_ how: Resumption, delivering signal: Int32 = 0) throws -> Stop {
    try resume(how, delivering: signal)
    return try wait(tid: tid)
  }

  private func decode(_ status: ct_status) throws -> Stop {
    switch Int(status.kind) {
    case CT_EXITED: return .exited(status.value)
    case CT_KILLED: return .killed(status.value)
    case CT_STEPPED: return .stepped
    case CT_EVENT: return .event(status.value, message: status.message)
    case CT_GROUP_STOP: return .groupStop(status.value)
    case CT_SIGNAL: return .signal(status.value, address: status.address)
    default:
      var call = ct_syscall()
      try check(ct_get_syscall(status.tid, &call), "syscall")
      guard call.is_entry else { return .syscallExit(result: call.result) }
      let a = call.arguments
      return .syscallEntry(number: call.number, arguments: [a.0, a.1, a.2, a.3, a.4, a.5])
    }
  }

  /// Runs the stopped thread until it has made the marker `code`; it stands behind the marker then. Threads that it starts run
  /// freely from the beginning.
  /// - Returns: the marker's value.
  @discardableResult
  func runToMarker(_ code: UInt32) throws -> UInt64 {
    var signal: Int32 = 0
    while true {
      switch try next(.toSyscall, delivering: signal) {
      case .syscallEntry(let number, let arguments):
        signal = 0
        guard Self.markerCode(number, arguments) == code else { continue }
        var registers = try registers()
        gadget = ct_syscall_instruction(&registers)
        _ = try next(.toSyscall)
        return arguments[2]
      case .event(Int32(CT_EVENT_CLONE), let thread):
        signal = 0
        try letRun(Int32(truncatingIfNeeded: thread))
      case .syscallExit, .event, .groupStop, .stepped: signal = 0
      case .signal(let number, _): signal = number
      case let end: throw failure("ended before marker \(code): \(end)")
      }
    }
  }

  /// Lets a thread go on that was just started. The one that stopped last stays so.
  private func letRun(_ thread: Int32) throws {
    let starter = tid
    _ = try wait(tid: thread)
    try resume(.run, tid: thread)
    freeThreads.append(thread)
    use(starter)
  }

  /// The code of the marker, at a system call's entry; nil for any other call.
  static func markerCode(_ number: UInt64, _ arguments: [UInt64]) -> UInt32? {
    var call = ct_syscall()
    call.is_entry = true
    call.number = number
    call.arguments.0 = arguments[0]
    call.arguments.1 = arguments[1]
    let code = ct_marker_code(&call)
    return code < 0 ? nil : UInt32(code)
  }

  /// One instruction of the thread that stopped last. One that is a system call stops at the call's entry instead, and
  /// the step after that at its exit.
  func step() throws -> Stop {
    var registers = try registers()
    let isCall = ct_is_at_syscall(tid, &registers)
    return try next(isCall || isInCall ? .toSyscall : .step).noting(&isInCall)
  }
  private var isInCall = false

  /// To the next system call's entry or exit, as many steps would.
  func stepToCall() throws -> Stop { try next(.toSyscall).noting(&isInCall) }

  /// Many instructions at once, a system call being one.
  /// - Returns: false if it ended, or a signal came, before they were over.
  func leap(_ count: Int) throws -> Bool {
    var status = ct_status()
    try check(ct_step_many(tid, count, &status), "step")
    switch Int(status.kind) {
    case 0: return true
    case CT_EXITED, CT_KILLED:
      if tid == pid {
        end = Int(status.kind) == CT_EXITED ? .exited(status.value) : .killed(status.value)
        life.state.withLock { $0.isReaped = true }
      }
      return false
    default: return false
    }
  }

  // MARK: - Looking and meddling

  func registers() throws -> ct_registers {
    var registers = ct_registers()
    try check(ct_get_registers(tid, &registers), "registers")
    return registers
  }

  /// Makes the thread that stopped last, not at a call's entry, execute a system call. A marker must have been passed.
  /// - Returns: what the call returned, a negative errno if it failed.
  @discardableResult
  func inject(_ number: Int32, _ arguments: UInt64...) throws -> Int64 {
    precondition(gadget != 0, "no marker was passed")
    let words = arguments + [UInt64](repeating: 0, count: 6 - arguments.count)
    var result: Int64 = 0
    try check(ct_inject(tid, gadget, UInt64(number), words, &result), "inject")
    return result
  }

  /// Bytes of its memory; nil where nothing is mapped.
  func read(_ address: UInt64, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return ct_read_memory(pid, address, &bytes, count) == Int64(count) ? bytes : nil
  }

  func readWords(_ address: UInt64, _ count: Int) -> [UInt64]? {
    var words = [UInt64](repeating: 0, count: count)
    return ct_read_memory(pid, address, &words, count * 8) == Int64(count * 8) ? words : nil
  }

  func readWord(_ address: UInt64) -> UInt64? {
    var word: UInt64 = 0
    return ct_read_memory(pid, address, &word, 8) == 8 ? word : nil
  }

  /// Writes a line to its standard input.
  func send(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    guard Glibc.send(input, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw failure("cannot be written to")
    }
  }

  /// What it wrote to its standard output and error so far.
  var text: String {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = pread(output, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
  }

  // MARK: - Ending

  /// `kill -9`, and waits until the kernel has cleaned up: robust mutexes are marked by then.
  func kill() {
    guard end == nil else { return }
    _ = ct_kill(pid)
    while end == nil {
      // An exit may be an event to stop at.
      guard let stop = try? wait() else { break }
      if case .exited = stop { continue }
      if case .killed = stop { continue }
      try? resume(.run)
    }
    life.state.withLock { $0.isReaped = true }
  }

  /// Lets it run to its end, which must be success.
  func finish() throws {
    var signal: Int32 = 0
    while end == nil {
      try resume(.run, delivering: signal)
      var stop = try wait()
      // Of a thread, which is not there to be resumed.
      while end == nil, stop.isEnd { stop = try wait() }
      if case .signal(let number, _) = stop { signal = number } else { signal = 0 }
    }
    if end != .exited(0) { throw failure("ended with \(end!)") }
  }

  func failure(_ what: String) -> Failure {
    let overdue = life.state.withLock { $0.isOverdue } ? " (killed: its time was over)" : ""
    return Failure(description: "tracee \(pid): \(what)\(overdue)\n\(text)")
  }

  private func check(_ result: Int32, _ what: String) throws {
    if result < 0 { throw failure("\(what): \(String(cString: strerror(-result)))") }
  }
}

extension Tracee.Stop {
  fileprivate var isEnd: Bool {
    switch self {
    case .exited, .killed: true
    default: false
    }
  }

  fileprivate func noting(_ isInCall: inout Bool) -> Self {
    if case .syscallEntry = self { isInCall = true } else { isInCall = false }
    return self
  }
}
