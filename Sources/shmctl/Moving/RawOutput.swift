import Glibc

/// Bytes on their way to a descriptor, gathered so that each call of the system moves many.
struct RawOutput {
  private let descriptor: Int32
  private let what: String
  private var gathered: [UInt8] = []
  private(set) var byteCount: UInt64 = 0

  private static let enough = 256 << 10

  /// - Parameter what: for messages: the output's name.
  init(_ descriptor: Int32, _ what: String) {
    self.descriptor = descriptor
    self.what = what
    gathered.reserveCapacity(Self.enough)
  }

  mutating func append(_ bytes: [UInt8]) throws { try append(bytes[...]) }

  mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    byteCount += UInt64(bytes.count)
    if gathered.isEmpty, bytes.count >= Self.enough { return try unsafe bytes.withUnsafeBytes { try unsafe write($0) } }
    gathered += bytes
    if gathered.count >= Self.enough { try flush() }
  }

  mutating func flush() throws {
    try unsafe gathered.withUnsafeBytes { bytes in try unsafe write(bytes) }
    gathered.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      if count >= 0 {
        done += count
      } else if errno == EPIPE {
        throw ExitStatus.brokenPipe
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot write \(what): \(SystemReason.last); look where it goes")
      }
    }
  }
}

/// What the system says of the call that failed last.
enum SystemReason {
  static var last: String {
    let number = errno
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
