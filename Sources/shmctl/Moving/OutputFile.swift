import Glibc

/// A file that is there whole under its name, or not at all: written beside it under another name, then renamed.
final class OutputFile {
  let descriptor: Int32
  private let path: String
  /// Nil where there is nothing to rename: a device or a pipe is written in place.
  private var draft: String?

  /// - Parameter mode: the permission bits that it may have, before the umask.
  init(_ path: String, mode: mode_t = 0o666) throws {
    self.path = path
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      return
    }
    let name = "\(path).\(getpid()).tmp"
    descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw Self.failure("create", name) }
    draft = name
  }

  var isRegular: Bool { draft != nil }

  /// Puts the file under its name, after the disk has it.
  func finish() throws {
    guard let draft else { return }
    guard fsync(descriptor) == 0, unsafe rename(draft, path) == 0 else { throw Self.failure("write", path) }
    self.draft = nil
  }

  private static func failure(_ what: String, _ path: String) -> Complaint {
    Complaint(.failure, "cannot \(what) '\(StandardError.printable(path))': \(SystemReason.last); choose another file")
  }

  deinit {
    if let draft { _ = unsafe unlink(draft) }
    close(descriptor)
  }
}
