import Foundation
import Testing
import TestSupport

/// What a document shows of a terminal: commands, and below each what it prints.
///
/// A command begins with `$ ` and goes on in lines that begin with `> `. In what it prints `…` stands for anything
/// within a line, and alone in a line for any lines. How many spaces there are does not count: columns depend on names.
struct Transcript {
  struct Step {
    var command: String
    var output: [String] = []
  }

  private(set) var steps: [Step] = []

  init(_ lines: some Sequence<Substring>) {
    for line in lines {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2))))
      } else if !steps.isEmpty {
        let isMore = line.hasPrefix("> ") && steps[steps.count - 1].output.isEmpty
        if isMore {
          steps[steps.count - 1].command += "\n" + line.dropFirst(2)
        } else {
          steps[steps.count - 1].output.append(String(line))
        }
      }
    }
  }

  /// The tables that the commands make or name.
  var tables: Set<String> {
    let naming = #/
      (?: create | -t | --table | copy\ [-.\w]+ | name: | SHM_TABLE= ) [\ ]* ([a-z][-.\w]*)
      /#
    return Set(steps.flatMap { step in step.command.matches(of: naming).map { String($0.1) } })
  }

  /// Runs the commands one after the other in one bash on a terminal of its own, in an empty directory, each table under
  /// a name that no other run uses, and compares what they print.
  /// - Parameter prelude: commands before the first, whose output is not looked at.
  func replay(prelude: String = "", _ title: String) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("transcript-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }

    let all = tables.union(Transcript(prelude.split(separator: "\n").map { "$ " + $0 }.map { $0[...] }).tables)
    let names = all.sorted { $0.count > $1.count }.map { ($0, uniqueTableName()) }
    defer { for (_, name) in names { removeObjects(ofTable: name) } }
    func renamed(_ text: String) -> String {
      names.reduce(text) { text, name in
        text.replacingOccurrences(
          of: #"(?<![-\w])\#(NSRegularExpression.escapedPattern(for: name.0))(?![-\w])"#, with: name.1,
          options: .regularExpression)
      }
    }

    // A record separator before each command's output, and the status kept for a command that prints it.
    let mark = "status=$?; printf '\\036'; (exit $status)"
    let script = """
      cd '\(directory.path)'
      unset SHM_TABLE SHM_TIMEOUT SHM_TRUST
      export PATH='\(WorkerProcess.productDirectory)':$PATH LC_ALL=C.UTF-8 TERM=dumb NO_COLOR=1 COLUMNS=80 LINES=24
      stty rows 24 cols 80 -onlcr
      trap 'kill $(jobs -p) 2>/dev/null' EXIT
      \(renamed(prelude))
      \(steps.map { "\(mark)\n\(renamed($0.command))" }.joined(separator: "\n"))
      """
    try script.write(to: directory.appendingPathComponent(".commands"), atomically: false, encoding: .utf8)

    // script(1) gives the commands a terminal. A task that ends early leaves nothing behind: the trap ends what it has started,
    // which a daemon would survive, since it takes the terminal's end for a reload.
    let run = try WorkerProcess.run(
      "/usr/bin/script", ["-qec", "bash '\(directory.path)/.commands'", "/dev/null"], timeoutSeconds: 90)
    let outputs = run.output.split(separator: "\u{1e}", omittingEmptySubsequences: false).dropFirst()
    #expect(outputs.count == steps.count, "\(title): it ended early: \(run.output)")
    for (step, output) in zip(steps, outputs) {
      let expected = renamed(step.output.joined(separator: "\n"))
      #expect(
        Self.matches(String(output), expected),
        "\(title)\n$ \(renamed(step.command))\nprinted:\n\(output)\nthe document says:\n\(expected)")
    }
  }

  static func matches(_ output: String, _ expected: String) -> Bool {
    func lines(_ text: String) -> String {
      text.replacing("\r\n", with: "\n").split(separator: "\n").map { line in
        line.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
      }.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
    }
    let pattern = lines(expected).split(separator: "\n").map { line in
      line == "…"
        ? "(?:.*\n)*"
        : line.split(separator: "…", omittingEmptySubsequences: false)
          .map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".*") + "\n"
    }.joined()
    return lines(output).range(of: "^" + pattern + "$", options: .regularExpression) == lines(output).fullRange
  }
}

extension String {
  fileprivate var fullRange: Range<String.Index> { startIndex..<endIndex }
}

/// A file of the repository's directory `docs`.
func document(_ name: String) throws -> String {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  return try String(contentsOf: root.appendingPathComponent("docs/\(name)"), encoding: .utf8)
}
