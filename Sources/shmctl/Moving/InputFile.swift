import Glibc

/// Standard input or a file, read from where it stands.
final class InputFile {
  let descriptor: Int32
  let name: String
  private let isOwned: Bool

  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
    isOwned = false
  }

  /// - Parameter path: nil and `-` are standard input.
  init(_ path: RawArgument?) throws {
    guard let path, !path.isStandardInput else {
      (descriptor, name, isOwned) = (0, "standard input", false)
      return
    }
    name = "'\(path.shown)'"
    isOwned = true
    descriptor = unsafe (path.bytes + [0]).withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe open($0.baseAddress!, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
    }
    guard descriptor >= 0 else {
      throw Complaint(.failure, "cannot open \(name): \(SystemReason.last); give another file, or - for standard input")
    }
  }

  /// Whether it can be read twice.
  var isRegular: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  var position: off_t {
    get { lseek(descriptor, 0, SEEK_CUR) }
    set { lseek(descriptor, newValue, SEEK_SET) }
  }

  /// Fills what it can, waiting for at least a byte; 0 at the end.
  func read(into bytes: inout [UInt8]) throws -> Int {
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      }
      if count >= 0 { return count }
      if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot read \(name): \(SystemReason.last); give a file or a pipe")
      }
    }
  }

  /// Whether reading would not wait.
  var isReady: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waiting, 1, 0) > 0
  }

  deinit { if isOwned { close(descriptor) } }
}
