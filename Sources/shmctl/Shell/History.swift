import Glibc

/// Lines that were typed, in a file that only its user may read: values are in them.
///
/// A line that begins with a space is not kept. Several shells may add to the file at once: each adds whole lines to its end.
struct History {
  private(set) var lines: [String] = []
  private let path: String?
  private static let most = 1000

  /// The user's: `$XDG_STATE_HOME/shmctl/history`, else `~/.local/state/shmctl/history`. `$SHMCTL_HISTORY` names another.
  static var ofUser: History { History(path: userPath) }

  private static var userPath: String? {
    if let path = CommonOptions.environment("SHMCTL_HISTORY") { return path }
    let state =
      CommonOptions.environment("XDG_STATE_HOME") ?? CommonOptions.environment("HOME").map { $0 + "/.local/state" }
    return state.map { $0 + "/shmctl/history" }
  }

  /// - Parameter path: nil keeps the lines in this process alone.
  init(path: String?) {
    self.path = path
    guard let path, let input = try? InputFile(path: RawArgument(bytes: Array(path.utf8))),
      let bytes = try? input.readAll(limit: 8 << 20)
    else { return }
    let kept = bytes.split(separator: UInt8(ascii: "\n")).suffix(Self.most)
    lines = kept.compactMap { String(validating: $0, as: UTF8.self) }
    // Twice as long as it need be: written anew.
    if bytes.count(where: { $0 == UInt8(ascii: "\n") }) > 2 * Self.most { try? rewrite(path) }
  }

  mutating func add(_ line: String) {
    guard !line.isEmpty, line.first != " ", line != lines.last else { return }
    lines.append(line)
    guard let path else { return }
    let descriptor = Self.open(path)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    try? Descriptor.writeAll(descriptor, Array("\(line)\n".utf8), "the history")
  }

  private func rewrite(_ path: String) throws {
    let file = try OutputFile(RawArgument(bytes: Array(path.utf8)), mode: 0o600)
    try Descriptor.writeAll(file.descriptor, Array(lines.map { $0 + "\n" }.joined().utf8), "the history")
    try file.finish()
  }

  private static func open(_ path: String) -> Int32 {
    makeDirectories(for: path)
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    // Whatever made it readable: values are in it.
    if descriptor >= 0 { fchmod(descriptor, 0o600) }
    return descriptor
  }

  private static func makeDirectories(for path: String) {
    var position = path.index(after: path.startIndex)
    while let slash = path[position...].firstIndex(of: "/") {
      _ = unsafe mkdir(String(path[..<slash]), 0o700)
      position = path.index(after: slash)
    }
  }
}
