import Glibc

/// A file without a name, gone with the process: for bytes that must not be held up by who reads or writes the pipe.
final class Spool {
  let descriptor: Int32

  init() throws {
    let directory = CommonOptions.environment("TMPDIR") ?? "/tmp"
    var name = Array("\(directory)/shmctl.XXXXXX".utf8CString)
    // Named for a moment: not every file system makes files without a name.
    descriptor = unsafe name.withUnsafeMutableBufferPointer { name in
      guard let start = name.baseAddress else { return -1 }
      let made = unsafe mkstemp(start)
      if made >= 0 {
        _ = fcntl(made, F_SETFD, FD_CLOEXEC)
        _ = unsafe unlink(start)
      }
      return made
    }
    guard descriptor >= 0 else {
      throw Complaint(
        .failure,
        "cannot make a temporary file in '\(StandardError.printable(directory))': \(SystemReason.last); "
          + "set $TMPDIR to a directory with room")
    }
  }

  func rewind() { lseek(descriptor, 0, SEEK_SET) }

  /// Copies all of it, from its beginning.
  func copy(to output: inout OutputBuffer) throws {
    rewind()
    try InputFile(descriptor: descriptor, name: "the temporary file").copy(to: &output)
  }

  deinit { close(descriptor) }
}
