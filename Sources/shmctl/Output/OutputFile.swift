import Glibc

/// A file that gets its new contents all at once, or keeps the old: written beside it under another name, then renamed.
///
/// A device or a pipe is written to as it comes: there is nothing to replace.
final class OutputFile {
  let descriptor: Int32
  private let path: RawArgument
  /// Nil where there is nothing to rename.
  private var draft: [CChar]?

  /// - Parameter mode: the permission bits that a new file may have, before the umask. One that is there keeps its own.
  init(_ path: RawArgument, mode: mode_t = 0o666) throws {
    self.path = path
    var status = stat()
    let exists = unsafe stat(path.cString, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      descriptor = unsafe open(path.cString, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      return
    }
    let name = path.bytes.map { CChar(bitPattern: $0) } + ".\(getpid()).tmp".utf8CString
    descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw Self.failure("create a file beside", path) }
    draft = name
    if exists, fchmod(descriptor, status.st_mode & 0o777) != 0 { throw Self.failure("keep the mode of", path) }
  }

  var isRegular: Bool { draft != nil }

  /// Puts the file under its name, after the disk has it.
  func finish() throws {
    guard let draft else { return }
    guard fsync(descriptor) == 0, unsafe rename(draft, path.cString) == 0 else { throw Self.failure("write", path) }
    self.draft = nil
  }

  private static func failure(_ what: String, _ path: RawArgument) -> Complaint {
    Complaint(
      .failure, "cannot \(what) '\(path.shown)': \(SystemReason.last); name a file in a directory that you may write")
  }

  deinit {
    if let draft { _ = unsafe unlink(draft) }
    close(descriptor)
  }
}

extension RawArgument {
  /// For system calls that take a path.
  fileprivate var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
