import Glibc

/// A process that takes lines on its stdin and answers in lines.
final class Child {
  let pid: pid_t
  private let program: String
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []
  private var status: Int32?

  /// - Parameter answersOn: the descriptor whose lines are read; the others are ours.
  init(_ program: String, _ arguments: [String], answersOn answers: Int32) throws {
    self.program = program
    let (childInput, input) = try makePipe()
    let (output, childOutput) = try makePipe()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, childInput, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, childOutput, answers)
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    var pid: pid_t = 0
    let failure = unsafe posix_spawn(&pid, program, &actions, nil, words, environ)
    unsafe words.forEach { word in unsafe free(word) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    close(childInput)
    close(childOutput)
    self.pid = pid
    self.input = input
    self.output = output
    guard failure == 0 else { throw Trouble("cannot start \(program): \(unsafe String(cString: strerror(failure)))") }
  }

  deinit {
    closeInput()
    close(output)
  }

  func send(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe Glibc.write(input, bytes, bytes.count)  // A child that is gone shows when we wait for its answer.
  }

  /// The next line of the child's answers. A minute without one is a failure, so that the demo always ends.
  func line() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&descriptor, 1, 60_000)
      if ready < 0 { throw Trouble("interrupted") }
      if ready == 0 { throw Trouble("\(program), pid \(pid), has not answered for a minute") }
      guard readMore() else { throw Trouble("\(program), pid \(pid), \(wait())") }
    }
  }

  func ask(_ command: String) throws -> String {
    send(command)
    return try line()
  }

  func expect(_ expected: String) throws {
    let line = try line()
    if line != expected { throw Trouble("\(program), pid \(pid), said '\(line)' instead of '\(expected)'") }
  }

  /// Reads and forgets the rest of the answers.
  func drain() { while readMore() { buffer = [] } }

  func kill(_ signal: Int32) { if status == nil { _ = Glibc.kill(pid, signal) } }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Waits for the end of the process and says in words how it ended.
  func wait() -> String {
    if status == nil {
      var raw: Int32 = 0
      while unsafe waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
      status = raw
    }
    let raw = status ?? 0
    return raw & 0x7f == 0 ? "exited with \((raw >> 8) & 0xff)" : "killed by signal \(raw & 0x7f)"
  }

  /// Ends the process if it still runs.
  func end() {
    kill(SIGKILL)
    _ = wait()
  }

  private func readMore() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(output, &chunk, chunk.count)
    if count > 0 { buffer += chunk[..<count] }
    return count > 0
  }
}

private func makePipe() throws -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [0, 0]
  guard unsafe pipe(&ends) == 0 else { throw Trouble("pipe: error \(errno)") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}
