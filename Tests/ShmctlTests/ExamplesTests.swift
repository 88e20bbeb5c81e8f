import Foundation
import Testing

/// The examples of a manual page in docs/shmctl-examples.txt: below `# COMMAND`, groups of `- what it shows:` and commands.
struct DocumentedExamples: Sendable, CustomStringConvertible {
  let command: String
  var lines: [Substring] = []

  var description: String { command }

  static let all: [DocumentedExamples] = (try? read()) ?? []

  private static func read() throws -> [DocumentedExamples] {
    var pages: [DocumentedExamples] = []
    for line in try document("shmctl-examples.txt").split(separator: "\n") {
      if line.hasPrefix("# ") {
        pages.append(DocumentedExamples(command: String(line.dropFirst(2))))
      } else if !line.hasPrefix("- ") {
        pages[pages.count - 1].lines.append(line)
      }
    }
    return pages
  }
}

struct ExamplesTests {
  /// What the examples begin with: two tables with a few keys, the first in `$SHM_TABLE`.
  static let prelude = """
    shmctl create settings --capacity 8MiB
    export SHM_TABLE=settings
    shmctl mset --string greeting hello colour red
    shmctl mset --int hits 5 limit 10
    shmctl set session:1 anna --ttl 1h
    shmctl set session:2 bert --ttl 1h
    shmctl create spare --capacity 4MiB
    shmctl -t spare set greeting hi
    """

  @Test func everySubcommandHasExamples() throws {
    let help = try CommandRun(["--help"]).text
    let list = try #require(help.split(separator: "SUBCOMMANDS:\n").last)
    let commands = list.split(separator: "\n").compactMap { $0.wholeMatch(of: #/  ([a-z]+) .*/#)?.1 }.map(String.init)
    #expect(commands.count > 30)
    #expect(Set(commands + ["shmctl"]) == Set(DocumentedExamples.all.map(\.command)))
    for page in DocumentedExamples.all where page.command != "shmctl" {
      let names = try Regex(#"shmctl[^|;]* \#(page.command)\b"#)
      #expect(
        page.lines.contains { $0.hasPrefix("$ ") && $0.contains(names) }, "no example of \(page.command) runs it")
    }
  }

  /// They run as they stand, so the commands take those options and print that.
  @Test(arguments: DocumentedExamples.all) func replay(_ page: DocumentedExamples) throws {
    try Transcript(page.lines).replay(prelude: Self.prelude, page.command)
  }
}
