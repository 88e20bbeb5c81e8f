import Glibc

/// Nanoseconds, CLOCK_MONOTONIC.
func now() -> Int { nanoseconds(CLOCK_MONOTONIC) }

/// Processor time of this process so far, in nanoseconds.
func processorTime() -> Int { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A process started here: killed and reaped when this object goes.
final class ChildProcess {
  let pid: pid_t
  private let output: Int32
  private let input: Int32
  private var pending: [UInt8] = []
  private var isOver = false

  init(_ path: String, _ arguments: [String]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure("pipe failed") }
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for pointer in argv { free(pointer) } }
    var child: pid_t = 0
    let failure = posix_spawnp(&child, path, &actions, nil, argv, environ)
    close(toChild[0])
    close(fromChild[1])
    guard failure == 0 else { throw Failure("cannot start \(path): \(String(cString: strerror(failure)))") }
    pid = child
    input = toChild[1]
    output = fromChild[0]
  }

  deinit {
    end()
    close(input)
    close(output)
  }

  /// Kills and reaps it.
  func end() {
    guard !isOver else { return }
    kill(pid, SIGKILL)
    _ = wait()
  }

  /// Waits for its end; its exit status, or nil after a signal.
  func wait() -> Int32? {
    isOver = true
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : nil
  }

  func send(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    guard Glibc.write(input, bytes, bytes.count) == bytes.count else { throw Failure("process \(pid) does not listen") }
  }

  /// One byte, past what ``readLine()`` keeps.
  func write(_ byte: inout UInt8) throws {
    guard Glibc.write(input, &byte, 1) == 1 else { throw Failure("process \(pid) does not listen") }
  }

  func read(_ byte: inout UInt8) throws {
    guard Glibc.read(output, &byte, 1) == 1 else { throw Failure("process \(pid) ended without an answer") }
  }

  func readLine() throws -> String {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending.removeFirst(end + 1) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(output, &buffer, buffer.count)
      if count <= 0, !pending.isEmpty {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
      }
      guard count > 0 else { throw Failure("process \(pid) ended without an answer") }
      pending += buffer[..<count]
    }
  }
}

/// The path of this program, which is also its own worker.
let ownPath: String = {
  var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = readlink("/proc/self/exe", &buffer, buffer.count)
  return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
}()
