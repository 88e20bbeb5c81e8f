import Foundation
import TestSupport
import Testing

/// The manual page of the daemon says what the daemon says of itself.
@Suite struct ManualTests {
  @Test func thePageHasEveryOption() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("systemd/shmd.8"), encoding: .utf8)
    let help = try WorkerProcess.run("shmd", ["--help"], timeoutSeconds: 60).output
    let options = help.split(separator: "\n").compactMap { $0.firstMatch(of: /^  (?:-h, )?--([a-z-]+)/)?.output.1 }
    #expect(options.count >= 8)
    for option in options { #expect(page.contains("\n.It Fl -\(option)"), "--\(option)") }
  }
}
