import Foundation
import Testing

/// What the shipped rules for Prometheus tell people to type.
@Suite struct AlertTests {
  @Test func theCommandsOfTheRulesAreCommandsAndChangeNothing() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let rules = try String(contentsOf: root.appendingPathComponent("systemd/alerts.yaml"), encoding: .utf8)
    let commands = rules.matches(of: /: shmctl ([^"]+)"/).map { $0.output.1.split(separator: " ").map(String.init) }
    #expect(commands.count >= 3)
    let table = try TestTable()
    for words in commands {
      let arguments = words.joined(separator: " ").replacing("{{ $labels.table }}", with: table.name)
        .split(separator: " ").map(String.init)
      // What one looks with.
      #expect(arguments[0] != "repair" || arguments.contains("--dry-run"))
      let run = try CommandRun(arguments)
      #expect(run.status == 0 || arguments[0] == "doctor" && run.status == 9, "\(arguments): \(run.errors)")
    }
  }
}
