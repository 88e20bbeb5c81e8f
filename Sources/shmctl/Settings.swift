import Glibc
import ToolSupport

/// What a user, or the host, has set for every command: `/etc/shmctl.conf`, and over it `$XDG_CONFIG_HOME/shmctl/config`, else
/// `~/.config/shmctl/config`.
///
/// `$SHMCTL_CONFIG` names the only file instead. A line is `name = value`; `#` begins a comment. Options and variables of
/// the environment come before it.
struct Settings: Equatable {
  var table: String?
  var timeout: TimeSpan?
  /// Users whose tables to use.
  var trust: [String]?
  var color: Bool?

  private static let names = ["table", "timeout", "trust", "color"]

  /// Those of this process, read once.
  static func current() throws -> Settings { try read.get() }

  private static let read = Result { () throws(Complaint) in
    let named = CommonOptions.environment("SHMCTL_CONFIG")
    return try Settings(files: named.map { [$0] } ?? files, areNamed: named != nil)
  }

  /// Where settings are looked for, the weakest first.
  private static var files: [String] {
    let home = CommonOptions.environment("XDG_CONFIG_HOME") ?? CommonOptions.environment("HOME").map { $0 + "/.config" }
    return ["/etc/shmctl.conf"] + (home.map { [$0 + "/shmctl/config"] } ?? [])
  }

  init() {}

  /// - Parameters:
  ///   - files: those that are not there are left out, unless the user named them.
  ///   - areNamed: whether the user named them; else also what is another user's is left out: `$HOME` may be his.
  init(files: [String], areNamed: Bool) throws(Complaint) {
    for path in files {
      if let text = try Self.contents(path, isNamed: areNamed) { try add(text, path) }
    }
  }

  private static let longest = 1 << 20

  private static func contents(_ path: String, isNamed: Bool) throws(Complaint) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      if [ENOENT, ENOTDIR, EACCES].contains(errno), !isNamed { return nil }
      if errno == ENOENT || errno == ENOTDIR {
        throw Complaint(
          .usage, "there is no file '\(path.printable)', which $SHMCTL_CONFIG names; correct it, or unset it")
      }
      throw Complaint(.failure, "cannot read '\(path.printable)': \(SystemReason.last); see 'ls -l'")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    // It says whose tables are used: nobody else may write it.
    let isOurs = status.st_uid == 0 || status.st_uid == geteuid()
    if !isOurs, !isNamed { return nil }
    guard isOurs, status.st_mode & 0o022 == 0 || isDevice(status) else {
      throw Complaint(
        .usage,
        "others may write '\(path.printable)', or it belongs to another user; 'chmod go-w' and 'chown' it, or name another "
          + "by $SHMCTL_CONFIG")
    }
    let input = InputFile(descriptor: descriptor, name: "'\(path.printable)'")
    guard let bytes = try? input.readAll(limit: longest), bytes.count <= longest else {
      throw Complaint(.usage, "'\(path.printable)' cannot be read, or is longer than 1 MiB; name a file of settings")
    }
    return bytes
  }

  /// A device, such as /dev/null, stands for a file without settings; every user may write to that one.
  private static func isDevice(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFCHR }

  /// - Parameter path: for messages.
  mutating func add(_ text: [UInt8], _ path: String) throws(Complaint) {
    var number = 0
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      do throws(Wrong) {
        try add(line: line)
      } catch {
        throw .usage("'\(path.printable)', line \(number): \(error.message)")
      }
    }
  }

  private struct Wrong: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  private mutating func add(line: ArraySlice<UInt8>) throws(Wrong) {
    guard let text = String(validating: line, as: UTF8.self) else { throw Wrong("no UTF-8; write it anew") }
    let trimmed = Self.trimmed(text[...])
    if trimmed.isEmpty || trimmed.utf8.first == UInt8(ascii: "#") { return }
    guard let equals = trimmed.firstIndex(of: "=") else {
      throw Wrong("'\(trimmed.prefix(64).description.printable)' is no setting; write 'name = value'")
    }
    let name = String(Self.trimmed(trimmed[..<equals]))
    try set(name, String(Self.trimmed(trimmed[trimmed.index(after: equals)...])))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    text.trimmed { $0 == " " || $0 == "\t" || $0 == "\r" }
  }

  private mutating func set(_ name: String, _ value: String) throws(Wrong) {
    if value.isEmpty, Self.names.contains(name) {
      throw Wrong("'\(name)' has no value; give one, or leave the line out")
    }
    switch name {
    case "table": table = value
    case "timeout":
      guard let time = TimeSpan(value) else {
        throw Wrong("'timeout' is '\(value.printable)', which is no time; use 500ms, 30s, 5m or 1h")
      }
      timeout = time
    case "trust": trust = CommonOptions.users(value)
    case "color":
      guard ["auto", "never"].contains(value) else {
        throw Wrong("'color' is '\(value.printable)'; there are auto and never")
      }
      color = value == "auto"
    default: throw Wrong(Self.unknown(name))
    }
  }

  private static func unknown(_ name: String) -> String {
    let near = Suggestion.nearest(to: name, among: names)
    let meant = near.map { "did you mean '\($0)'?" } ?? "there are \(names.joined(separator: ", "))"
    return "'\(name.printable)' is no setting; \(meant)"
  }
}
