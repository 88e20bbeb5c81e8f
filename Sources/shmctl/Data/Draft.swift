import Glibc
import SharedTable
import ToolSupport

/// A value in a file, for an editor. Only its user may read it.
struct Draft {
  let path: String
  private let endsLine: Bool

  init(_ text: [UInt8]) throws {
    endsLine = text.last == UInt8(ascii: "\n")
    let directory = CommonOptions.environment("TMPDIR") ?? "/tmp"
    var name = Array("\(directory)/shmctl-edit.XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard descriptor >= 0 else {
      throw Complaint(
        .failure, "cannot make a file in \(directory): \(SystemReason.last); name another directory by $TMPDIR")
    }
    defer { close(descriptor) }
    do {
      try Descriptor.writeAll(descriptor, text, "'\(path.printable)'")
    } catch {
      remove()
      throw error
    }
  }

  func remove() { unsafe unlink(path) }

  /// Whether something else was saved than the text with which it was made. It may be all that there is of it: what cannot be read counts as
  /// changed.
  func isChanged(from text: [UInt8]) -> Bool {
    guard unsafe access(path, F_OK) == 0 else { return false }
    return (try? contents(limit: text.count + 1)) != text
  }

  private func contents(limit: Int) throws -> [UInt8] {
    try InputFile(path: RawArgument(bytes: Array(path.utf8))).readAll(limit: limit)
  }

  /// Lets the user edit, and returns what was saved, without the newline that editors add to the last line.
  func edit(limit: Int) throws -> [UInt8] {
    let editor = CommonOptions.environment("VISUAL") ?? CommonOptions.environment("EDITOR") ?? "vi"
    // By a shell: the variable may hold options, too.
    let line = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
    guard try ChildProcess(words: line.map { Array($0.utf8) }).runInForeground() == 0 else {
      throw Complaint(.failure, "the editor '\(editor.printable)' failed; nothing was stored; name another by $EDITOR")
    }
    var bytes = try contents(limit: limit + 1)
    if !endsLine, bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return bytes
  }
}
