import Foundation
import TestSupport
import Testing

@testable import ShmdCore

/// What the documentation and the shipped file show of a configuration is one.
struct DocumentedConfigurationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func expectAccepted(_ configuration: String, keys: [String]) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let run = try WorkerProcess.run("shmd", ["--config", file.path, "--print-config"], timeoutSeconds: 60)
    #expect(run.exit == .code(0), "\(run.errors)")
    for key in keys {
      #expect(run.output.split(separator: "\n").contains { $0.contains(key) && !$0.contains("# default") }, "\(key)")
    }
  }

  @Test func theAdministratorsExampleIsAccepted() throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent("docs/administration.md"), encoding: .utf8)
    let blocks = text.split(separator: "```yaml\n").dropFirst().compactMap { $0.split(separator: "```").first }
    try expectAccepted(
      String(try #require(blocks.first)), keys: ["store-directory:", "resp:", "durability: every-barrier", "group:"])
  }

  @Test func theReferenceListsEveryKey() throws {
    let text = try String(
      contentsOf: Self.root.appendingPathComponent("Sources/ShmdCore/DESIGN.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
    for key in TopKeyword.allCases.map(\.rawValue) + TableKeyword.allCases.map(\.rawValue) {
      #expect(rows.contains { $0.hasPrefix("| `\(key)` |") }, "\(key)")
    }
  }

  @Test func theShippedFileIsAccepted() throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent("systemd/shmd.yaml"), encoding: .utf8)
    try expectAccepted(text, keys: ["durability: none"])
  }

  @Test func theManualPagesExampleIsAccepted() throws {
    let page = try String(contentsOf: Self.root.appendingPathComponent("systemd/shmd.yaml.5"), encoding: .utf8)
    let block = page.components(separatedBy: ".Bd -literal\n").last?.components(separatedBy: ".Ed").first
    let example = try #require(block)
    try expectAccepted(example, keys: ["durability: every-barrier", "resp:", "monitoring:"])
  }

  /// The keys that it shows as comments, too.
  @Test func theShippedFilesCommentsAreAccepted() throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent("systemd/shmd.yaml"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { line in
      line.replacing(#/^(\ *)#\ (\ *[a-z-]+:(\ .*)?)$/#) { "\($0.1)\($0.2)" }
    }
    try expectAccepted(lines.joined(separator: "\n"), keys: ["store-directory:", "resp:", "group:"])
  }
}
