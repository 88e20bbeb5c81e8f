import ToolSupport

/// One thing wrong with a configuration: where, what, and what to do about it. One line of text.
public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
  public let file: String
  /// Counted from 1; nil if it is the file as a whole.
  public let line: Int?
  public let message: String
  /// It may end by itself, as a look-up of users that fails: another start is worth while.
  let isTemporary: Bool

  public init(file: String, line: Int?, _ message: String) {
    self.init(file: file, line: line, message, isTemporary: false)
  }

  init(file: String, line: Int?, _ message: String, isTemporary: Bool) {
    self.file = file
    self.line = line
    self.message = message
    self.isTemporary = isTemporary
  }

  public var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return "\(place): \(message)".printable
  }
}

/// A configuration that is not applied, not even in part.
public struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, in the order of the file: all of it, or as much as anybody corrects at once.
  public let problems: [Problem]
  /// Another attempt may succeed with the file as it is.
  let isTemporary: Bool
  /// More than anybody corrects at once; a file that is wrong all over does not flood the journal.
  private static let mostProblems = 50

  init(_ problems: [Problem]) {
    isTemporary = !problems.isEmpty && problems.allSatisfy(\.isTemporary)
    let files = problems.map(\.file)
    func place(_ problem: Problem) -> (Int, Int) { (files.firstIndex(of: problem.file) ?? 0, problem.line ?? 0) }
    let sorted = problems.sorted { place($0) < place($1) }
    let rest = sorted.dropFirst(Self.mostProblems)
    let more = rest.first.map { Problem(file: $0.file, line: nil, "and \(rest.count) more; correct these first") }
    self.problems = sorted.prefix(Self.mostProblems) + (more.map { [$0] } ?? [])
  }

  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
