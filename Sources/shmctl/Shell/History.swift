import Glibc
import ToolSupport

/// Lines that were typed, in a file that only its user may read: values are in them.
///
/// A line that begins with a space is not kept. Several shells may add to the file at once: each adds whole lines to its end.
struct History {
  private(set) var lines: [String] = []
  private let path: String?
  private static let most = 1000
  private static let longest: off_t = 8 << 20

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
    guard let path, let descriptor = Self.open(path, O_RDONLY) else { return }
    defer { close(descriptor) }
    guard let (ends, isWhole) = Self.end(of: descriptor) else { return }
    // Something else may have written to it: what a terminal would obey is not shown.
    lines = ends.suffix(Self.most).compactMap { String(validating: $0, as: UTF8.self) }.filter { $0.printable == $0 }
    // Much longer than it need be: written anew.
    if ends.count > 2 * Self.most || !isWhole { try? rewrite(path) }
  }

  /// The last lines of the file, those in its last 8 MiB, and whether these are all.
  private static func end(of descriptor: Int32) -> (lines: [ArraySlice<UInt8>], isWhole: Bool)? {
    let input = InputFile(descriptor: descriptor, name: "the history")
    let cut = max(0, lseek(descriptor, 0, SEEK_END) - longest)
    input.position = cut
    guard let bytes = try? input.readAll(limit: Int(longest)) else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    // Of the first one only the end may have been read.
    return cut > 0 ? (Array(lines.dropFirst()), false) : (lines, true)
  }

  mutating func add(_ line: String) {
    guard !line.isEmpty, line.first != " ", line != lines.last else { return }
    lines.append(line)
    guard let path else { return }
    Self.makeDirectories(for: path)
    guard let descriptor = Self.open(path, O_WRONLY | O_APPEND | O_CREAT) else { return }
    defer { close(descriptor) }
    try? Descriptor.writeAll(descriptor, Array("\(line)\n".utf8), "the history")
  }

  private func rewrite(_ path: String) throws {
    let file = try OutputFile(RawArgument(bytes: Array(path.utf8)), mode: 0o600)
    try Descriptor.writeAll(file.descriptor, Array(lines.map { $0 + "\n" }.joined().utf8), "the history")
    try file.finish()
  }

  /// The user's own file; nil if it is not there, or is a link, a device, a pipe or another user's. Those are left as they are, and
  /// there is no history.
  private static func open(_ path: String, _ flags: Int32) -> Int32? {
    // Without O_NONBLOCK the open of a pipe that no process reads would wait.
    let descriptor = unsafe Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0o600)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      close(descriptor)
      return nil
    }
    // Whatever made it readable: values are in it.
    fchmod(descriptor, 0o600)
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
