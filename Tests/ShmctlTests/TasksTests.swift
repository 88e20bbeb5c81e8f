import Foundation
import Testing

/// A task of docs/tasks.md: a heading, and what is typed below it.
struct DocumentedTask: Sendable, CustomStringConvertible {
  let title: String
  /// What the line `*Needs: …*` names: root, redis-tools.
  var needs: [String] = []
  var console: [Substring] = []

  var description: String { title }

  static let all: [DocumentedTask] = (try? read()) ?? []

  private static func read() throws -> [DocumentedTask] {
    var tasks: [DocumentedTask] = []
    var isConsole = false
    for line in try document("tasks.md").split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") {
        tasks.append(DocumentedTask(title: String(line.dropFirst(3))))
      } else if line.hasPrefix("```") {
        isConsole = line == "```console"
      } else if !tasks.isEmpty, isConsole {
        tasks[tasks.count - 1].console.append(line)
      } else if !tasks.isEmpty, let needs = line.wholeMatch(of: #/\*Needs: (.*)\.\*/#) {
        tasks[tasks.count - 1].needs = needs.1.split(separator: ", ").map(String.init)
      }
    }
    return tasks
  }

  /// What of its needs this run does not have.
  var missing: [String] {
    needs.filter { need in
      switch need {
      case "root": geteuid() != 0
      case "redis-tools": !FileManager.default.isExecutableFile(atPath: "/usr/bin/redis-cli")
      case "shmd": false  // the one that was built beside the test
      default: true
      }
    }
  }
}

struct TasksTests {
  @Test func thereAre25() { #expect(DocumentedTask.all.count >= 25) }

  @Test(arguments: DocumentedTask.all) func replay(_ task: DocumentedTask) throws {
    guard task.missing.isEmpty else {
      return print("docs/tasks.md: \(task.title): not replayed, needs \(task.missing.joined(separator: ", "))")
    }
    let transcript = Transcript(task.console)
    #expect(!transcript.steps.isEmpty, "\(task.title): nothing to type")
    try transcript.replay(task.title)
  }

  @Test(arguments: [
    ("a\nb", "a\nb", true), ("a\nb", "a", false), ("a", "a\nb", false), ("at 17 h", "at … h", true),
    ("at 17", "at … h", false), ("a\nx\ny\nb", "a\n…\nb", true), ("a  \t b\r\n", "a b", true), ("", "", true),
    ("x", "", false), ("a.c", "a.c", true), ("abc", "a.c", false),
  ]) func comparison(_ output: String, _ expected: String, _ isEqual: Bool) {
    #expect(Transcript.matches(output, expected) == isEqual)
  }
}
