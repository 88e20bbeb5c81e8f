import Glibc

/// Whole reads and writes of descriptors, unbuffered: interrupted calls and full pipes are tried again.
enum Descriptor {
  /// - Parameter name: of the output, for messages.
  static func writeAll(
    _ descriptor: Int32, _ bytes: some Collection<UInt8>, _ name: @autoclosure () -> String = "the output"
  ) throws {
    let written: Void? = try bytes.withContiguousStorageIfAvailable { bytes in
      try unsafe writeAll(descriptor, UnsafeRawBufferPointer(bytes), name())
    }
    if written == nil { try writeAll(descriptor, Array(bytes), name()) }
  }

  private static func writeAll(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ name: @autoclosure () -> String
  ) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      if count >= 0 {
        done += count
      } else if errno == EPIPE {
        // Only where SIGPIPE is ignored; otherwise it has ended us, as quietly.
        throw ExitStatus.brokenPipe
      } else if errno == EAGAIN {
        wait(descriptor, POLLOUT)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot write \(name()): \(SystemReason.last); look where it goes")
      }
    }
  }

  /// Fills what it can, waiting for at least a byte; 0 at the end.
  static func read(
    _ descriptor: Int32, into bytes: inout [UInt8], _ name: @autoclosure () -> String
  ) throws -> Int {
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      }
      if count >= 0 { return count }
      if errno == EAGAIN {
        wait(descriptor, POLLIN)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot read \(name()): \(SystemReason.last); give a file or a pipe")
      }
    }
  }

  private static func wait(_ descriptor: Int32, _ events: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    _ = unsafe poll(&waiting, 1, -1)
  }
}
