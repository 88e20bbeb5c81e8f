import Glibc
import ToolSupport

/// Whole reads and writes of descriptors, unbuffered: interrupted calls and full pipes are tried again.
enum Descriptor {
  /// - Parameter name: of the output, for messages.
  static func writeAll(
    _ descriptor: Int32, _ bytes: some Collection<UInt8>, _ name: @autoclosure () -> String = "the output"
  ) throws {
    switch WholeWrite.write(bytes, to: descriptor, waits: true) {
    case 0: return
    // Only where SIGPIPE is ignored; otherwise it has ended us, as quietly.
    case EPIPE: throw ExitStatus.brokenPipe
    case let error:
      throw Complaint(.failure, "cannot write \(name()): \(SystemReason.of(error)); look where it goes")
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
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
      } else if errno != EINTR {
        throw Complaint(.failure, "cannot read \(name()): \(SystemReason.last); give a file or a pipe")
      }
    }
  }
}
