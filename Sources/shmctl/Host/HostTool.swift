import Glibc

/// A program of the host's that is asked for something, and answers on its standard output.
struct HostTool {
  private let program: String
  /// More than this of an answer is not read.
  private let longest: Int
  private let silent: Bool

  /// - Parameter silent: its complaints are not shown.
  init(_ program: String, longest: Int, silent: Bool) {
    self.program = program
    self.longest = longest
    self.silent = silent
  }

  /// The first line of its answer; nil if there is none, or no such program.
  func firstLine(_ arguments: [String]) throws -> String? {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard let child = start(arguments, output: ends[1]) else { return nil }
    defer { while waitpid(child, nil, 0) < 0 && errno == EINTR {} }
    let answer = try InputFile(descriptor: ends[0], name: "what \(program) says").readAll(limit: longest)
    return String(decoding: answer, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  /// Starts it, with `output` as its standard output; closes that here.
  private func start(_ arguments: [String], output: Int32) -> pid_t? {
    defer { close(output) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    if silent { unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { unsafe words.forEach { word in unsafe free(word) } }
    var child: pid_t = 0
    return unsafe posix_spawn(&child, program, &actions, nil, words, environ) == 0 ? child : nil
  }
}
