import Glibc

/// Reading and writing the three standard descriptors, unbuffered.
enum Descriptor {
  /// Opens what the caller left closed, so that no object of a table gets the number 1 and takes our output for its
  /// contents. Opened the wrong way round: using one still fails.
  static func openStandard() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
      }
      if count >= 0 {
        done += count
      } else if errno == EPIPE {
        // Only where SIGPIPE is ignored; otherwise it has ended us, as quietly.
        throw ExitStatus.brokenPipe
      } else if errno == EAGAIN {
        var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&descriptors, 1, -1)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot write the output: \(reason); look where it goes")
      }
    }
  }

  /// Everything up to the end, or more than `limit` bytes if there are more: an endless input ends there.
  static func readAll(_ descriptor: Int32, limit: Int) throws -> [UInt8] {
    var input = InputChunks(descriptor)
    var bytes: [UInt8] = []
    while bytes.count <= limit, let chunk = try input.next() { bytes += chunk }
    return bytes
  }

  /// What the last system call failed with.
  static var reason: String {
    guard let text = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: text)
  }
}

/// What a descriptor brings, read by read.
struct InputChunks {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ descriptor: Int32 = 0) { self.descriptor = descriptor }

  /// What the next read brings; nil at the end.
  mutating func next() throws -> ArraySlice<UInt8>? {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe read(descriptor, buffer.baseAddress, buffer.count)
      }
      if count > 0 { return buffer[..<count] }
      if count == 0 { return nil }
      if errno == EAGAIN {
        var descriptors = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptors, 1, -1)
      } else if errno != EINTR {
        let what = descriptor == 0 ? "standard input" : "the input"
        throw Complaint(
          .failure, "cannot read \(what): \(Descriptor.reason); give the value as an argument or by a pipe")
      }
    }
  }
}

/// Standard output: results and nothing else.
enum StandardOutput {
  static var isTerminal: Bool { isatty(1) == 1 }

  static func write(_ bytes: [UInt8]) throws { try Descriptor.writeAll(1, bytes) }

  static func write(line: String) throws { try write(Array("\(line)\n".utf8)) }
}
