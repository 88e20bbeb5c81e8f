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
  func firstLine(_ arguments: [String]) throws -> String? { try lines(arguments).first.map(String.init) }

  /// The lines of its answer; none if there is no such program.
  func lines(_ arguments: [String]) throws -> [Substring] {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return [] }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard let child = start(arguments, output: ends[1]) else { return [] }
    defer { _ = try? ChildProcess.wait(for: child) }
    let answer = try InputFile(descriptor: ends[0], name: "what \(program) says").readAll(limit: longest)
    return String(decoding: answer, as: UTF8.self).split(separator: "\n")
  }

  /// Starts it, with `output` as its standard output; closes that here.
  private func start(_ arguments: [String], output: Int32) -> pid_t? {
    defer { close(output) }
    let words = ([program] + arguments).map { Array($0.utf8) }
    return try? ChildProcess(words: words, output: output, isSilent: silent).start()
  }
}
