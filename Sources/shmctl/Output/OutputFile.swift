import Glibc

/// A file that gets its new contents all at once, or keeps the old.
enum OutputFile {
  /// Runs `body` with a buffer that ends in the file. If it throws, the file is what it was.
  ///
  /// A device, a pipe and `/dev/stdout` are written to as it comes: there is nothing to replace.
  static func replace(_ path: RawArgument, _ body: (inout OutputBuffer) throws -> Void) throws {
    var target = path.bytes.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    let exists = unsafe stat(target, &status) == 0
    // These lead to a descriptor: the file behind it is somebody else's, and the name is the system's.
    let isDescriptor = ["/dev/std", "/dev/fd/", "/proc/"].contains { path.bytes.starts(with: $0.utf8) }
    if exists, isDescriptor || status.st_mode & S_IFMT != S_IFREG { return try write(target, path, body) }
    // A symbolic link goes on leading to the file.
    if exists, let resolved = unsafe realpath(target, nil) {
      unsafe target = Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved) + 1))
      unsafe free(resolved)
    }
    var temporary = target.dropLast() + Array(".XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&temporary)
    if descriptor < 0 { throw failure(path) }
    do {
      try fill(descriptor, path, body)
      // As a shell's `>` would have made it, or as it is.
      let mask = umask(0)
      umask(mask)
      let mode = exists ? status.st_mode & 0o777 : 0o666 & ~mask
      guard fchmod(descriptor, mode) == 0, unsafe rename(temporary, target) == 0 else { throw failure(path) }
      close(descriptor)
    } catch {
      close(descriptor)
      unsafe unlink(temporary)
      throw error
    }
  }

  private static func write(
    _ target: [CChar], _ path: RawArgument, _ body: (inout OutputBuffer) throws -> Void
  ) throws {
    let descriptor = unsafe open(target, O_WRONLY | O_CLOEXEC)
    if descriptor < 0 { throw failure(path) }
    defer { close(descriptor) }
    try fill(descriptor, path, body)
  }

  private static func fill(
    _ descriptor: Int32, _ path: RawArgument, _ body: (inout OutputBuffer) throws -> Void
  ) throws {
    var buffer = OutputBuffer(descriptor: descriptor)
    try body(&buffer)
    try buffer.flush()
  }

  private static func failure(_ path: RawArgument) -> Complaint {
    Complaint(
      .failure, "cannot write '\(path.shown)': \(Descriptor.reason); name a file in a directory that you may write")
  }
}
