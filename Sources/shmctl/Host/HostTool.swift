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
    do {
      let answer = try answer(arguments.map { Array($0.utf8) })
      return String(decoding: answer.bytes, as: UTF8.self).split(separator: "\n")
    } catch is ChildProcess.CannotStart {
      return []
    }
  }

  struct Answer {
    let bytes: [UInt8]
    /// As the shell counts.
    let status: Int32
  }

  /// Its answer, or of a longer one more than the longest.
  /// - Parameters:
  ///   - additions: to its environment.
  ///   - complaints: where they go, if not where ours do.
  /// - Throws: `CannotStart`.
  func answer(
    _ arguments: [[UInt8]], additions: [(name: String, value: [UInt8])] = [], complaints: Int32? = nil
  ) throws -> Answer {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else {
      throw ChildProcess.CannotStart(status: 126, message: "cannot run '\(program)': \(SystemReason.last)")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child: pid_t
    do {
      defer { close(ends[1]) }
      child = try ChildProcess(
        words: [Array(program.utf8)] + arguments, additions: additions, output: ends[1], complaints: complaints,
        isSilent: silent
      ).start()
    } catch {
      close(ends[0])
      throw error
    }
    let bytes = Result {
      try InputFile(descriptor: ends[0], name: "what \(program) says").readAll(limit: longest)
    }
    // One that has more to say ends by this.
    close(ends[0])
    let status = try ChildProcess.wait(for: child)
    return Answer(bytes: try bytes.get(), status: status)
  }
}
