import Foundation
import TestSupport
import Testing

@testable import ShmdCore

/// The manual pages of the daemon and of its configuration say what the daemon says of itself.
@Suite struct ManualTests {
  private static func page(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("systemd/\(name)"), encoding: .utf8)
  }

  @Test func thePageHasEveryOption() throws {
    let page = try Self.page("shmd.8")
    let help = try WorkerProcess.run("shmd", ["--help"], timeoutSeconds: 60).output
    let options = help.split(separator: "\n").compactMap { $0.firstMatch(of: /^  (?:-h, )?--([a-z-]+)/)?.output.1 }
    #expect(options.count >= 8)
    for option in options { #expect(page.contains("\n.It Fl -\(option)"), "--\(option)") }
  }

  @Test(arguments: [
    ("DESCRIPTION", TopKeyword.allCases.map(\.rawValue)), ("TABLES", TableKeyword.allCases.map(\.rawValue)),
    ("UPSTREAM", UpstreamKeyword.allCases.map(\.rawValue)), ("RESP", RESPKeyword.allCases.map(\.rawValue)),
    ("RESP", AccessKeyword.allCases.map(\.rawValue)), ("MONITORING", ListeningKeyword.allCases.map(\.rawValue)),
  ])
  func theConfigurationsPageHasEveryKey(of section: String, _ keys: [String]) throws {
    let sections = try Self.page("shmd.yaml.5").components(separatedBy: "\n.Sh ")
    let text = try #require(sections.first { $0.hasPrefix(section + "\n") })
    let words = Set(
      text.split(separator: "\n").filter { $0.hasPrefix(".It Ic ") || $0.hasPrefix(".Ic ") }
        .flatMap { $0.split(separator: " ") }.map(String.init))
    for key in keys { #expect(words.contains(key), "\(key)") }
  }
}
