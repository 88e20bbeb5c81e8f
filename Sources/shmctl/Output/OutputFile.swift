import Glibc

/// A file that gets its new contents all at once, or keeps the old: written beside it under another name, then renamed.
///
/// A device, a pipe and `/dev/stdout` are written to as it comes: there is nothing to replace. A symbolic link goes on
/// leading to the file.
final class OutputFile {
  let descriptor: Int32
  private let path: RawArgument
  /// The file's name behind symbolic links.
  private let target: [CChar]
  /// Nil where there is nothing to rename.
  private var draft: [CChar]?

  /// - Parameter mode: the permission bits that a new file may have, before the umask. One that is there keeps its own.
  init(_ path: RawArgument, mode: mode_t = 0o666) throws {
    self.path = path
    let given = path.bytes.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    let exists = unsafe stat(given, &status) == 0
    target = exists ? Self.resolved(given) : given
    // These lead to a descriptor: the file behind it is somebody else's, and the name is the system's.
    let isDescriptor = ["/dev/std", "/dev/fd/", "/proc/"].contains { path.bytes.starts(with: $0.utf8) }
    if exists, isDescriptor || status.st_mode & S_IFMT != S_IFREG {
      descriptor = unsafe open(given, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      return
    }
    let made = Self.draft(of: target, mode)
    descriptor = made.descriptor
    guard descriptor >= 0 else { throw Self.failure("create a file beside", path) }
    draft = made.name
    if exists, fchmod(descriptor, status.st_mode & 0o777) != 0 { throw Self.failure("keep the mode of", path) }
  }

  /// Whether it is replaced all at once.
  var isRegular: Bool { draft != nil }

  /// Puts the file under its name, after the disk has it.
  func finish() throws {
    guard let draft else { return }
    guard fsync(descriptor) == 0, unsafe rename(draft, target) == 0 else { throw Self.failure("write", path) }
    self.draft = nil
  }

  /// Makes a file beside the target. A process of this number that was killed may have left one, as in a container each is
  /// number 1: then under another name.
  private static func draft(of target: [CChar], _ mode: mode_t) -> (descriptor: Int32, name: [CChar]) {
    var attempt = 0
    while true {
      let end = attempt == 0 ? ".tmp" : ".\(attempt).tmp"
      let name = Array(target.dropLast() + ".\(getpid())\(end)".utf8CString)
      let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if descriptor >= 0 || errno != EEXIST || attempt == 1000 { return (descriptor, name) }
      attempt += 1
    }
  }

  private static func resolved(_ path: [CChar]) -> [CChar] {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved) + 1))
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
