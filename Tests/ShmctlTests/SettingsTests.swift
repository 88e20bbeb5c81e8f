import Foundation
import TestSupport
import Testing

@testable import shmctl

@Suite struct SettingsTests {
  @Test func optionsAndEnvironmentComeBeforeTheUsersFileAndThatBeforeTheHosts() throws {
    let (one, two) = (try TestTable(), try TestTable())
    _ = try (one.open().set("k", "one"), two.open().set("k", "two"))
    let folder = try Scratch()
    try FileManager.default.createDirectory(atPath: folder.file("shmctl"), withIntermediateDirectories: false)
    let environment = ["XDG_CONFIG_HOME": folder.file(""), "SHMCTL_CONFIG": ""]
    try "# mine\ntable = \(one.name)\r\n  timeout=2s\n\n".write(
      toFile: folder.file("shmctl/config"), atomically: true, encoding: .utf8)
    #expect(try CommandRun(["get", "k"], environment: environment).text == "one")
    #expect(try CommandRun(["get", "--raw", "k"], environment: environment).text == "one")
    #expect(
      try CommandRun(["get", "k"], environment: environment.merging(["SHM_TABLE": two.name]) { $1 }).text == "two")
    #expect(try CommandRun(["-t", two.name, "get", "k"], environment: environment).text == "two")
    var settings = Settings()
    try settings.add(Array("table = a\ntrust = x, y\ncolor = never".utf8), "host")
    try settings.add(Array("table = b".utf8), "user")
    #expect(settings.table == "b" && settings.trust == ["x", "y"] && settings.color == false)
  }

  @Test(arguments: [
    ("tabel = x", 1, "'tabel' is no setting; did you mean 'table'?"), ("\n\ntimeout = soon", 3, "no time; use 500ms"),
    ("table", 1, "is no setting; write 'name = value'"), ("table =", 1, "has no value"),
    ("color = blue", 1, "there are auto and never"),
    ("nonsense = 1", 1, "there are table, timeout, trust, color"),
  ])
  func aMistakeIsNamedWithFileAndLine(text: String, line: Int, message: String) throws {
    let folder = try Scratch()
    try text.write(toFile: folder.file("config"), atomically: true, encoding: .utf8)
    for command in [["get", "k"], ["ls"]] {
      let run = try CommandRun(command, environment: ["SHMCTL_CONFIG": folder.file("config")])
      #expect(run.status == 2)
      #expect(run.errors.contains("config', line \(line): ") && run.errors.contains(message), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test func settingsThatCannotBeReadAreNoUsageError() throws {
    let folder = try Scratch()
    try FileManager.default.createSymbolicLink(atPath: folder.file("config"), withDestinationPath: "config")
    for command in [["get", "k"], ["ls"]] {
      let run = try CommandRun(command, environment: ["SHMCTL_CONFIG": folder.file("config")])
      #expect(run.status == 11 && run.errors.contains("cannot read '"), "\(run.errors)")
    }
    #expect(try CommandRun(["--help"], environment: ["SHMCTL_CONFIG": folder.file("config")]).status == 0)
  }

  /// Else a typing error would have the command use another table.
  @Test func aFileThatIsNamedMustBeThere() throws {
    let folder = try Scratch()
    let run = try CommandRun(["get", "k"], environment: ["SHMCTL_CONFIG": folder.file("config")])
    #expect(run.status == 2 && run.errors.contains("there is no file '") && run.errors.contains("$SHMCTL_CONFIG names"))
  }

  @Test func whatOthersMayWriteIsNotRead() throws {
    let folder = try Scratch()
    try "trust = everyone".write(toFile: folder.file("config"), atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.file("config"))
    let run = try CommandRun(["ls"], environment: ["SHMCTL_CONFIG": folder.file("config")])
    #expect(run.status == 2 && run.errors.contains("others may write"))
  }

  /// $HOME may be another user's: what is his is nobody else's setting.
  @Test(.enabled(if: stranger != nil, "cannot run: needs root to be somebody else"))
  func whatIsAnothersIsNotRead() throws {
    let stranger = try #require(stranger)
    let folder = try Scratch()
    try FileManager.default.createDirectory(atPath: folder.file("shmctl"), withIntermediateDirectories: false)
    try "table = his".write(toFile: folder.file("shmctl/config"), atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.ownerAccountID: stranger], ofItemAtPath: folder.file("shmctl/config"))
    let environment = ["XDG_CONFIG_HOME": folder.file(""), "SHMCTL_CONFIG": ""]
    #expect(try CommandRun(["get", "k"], environment: environment).errors.contains("table 'default'"))
  }

  @Test func randomTextIsReadOrRefused() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let pieces = [
      "table", "timeout", "trust", "color", "=", " ", "\n", "#", "5s", "é", "\0", "never", "\u{1b}[31m", "\t", "\r",
      ",",
    ]
    for _ in 0..<5000 {
      var text = (0..<random.below(20)).flatMap { _ in Array(pieces.randomElement(using: &random)!.utf8) }
      if random.below(3) == 0 {
        text.insert(UInt8.random(in: 0...255, using: &random), at: random.below(text.count + 1))
      }
      var settings = Settings()
      do {
        try settings.add(text, "f")
      } catch {
        #expect(error.status == .usage && error.message.hasPrefix("'f', line "), "seed \(seed)")
        #expect(!error.message.utf8.contains { $0 < 0x20 }, "seed \(seed)")
      }
    }
  }
}
