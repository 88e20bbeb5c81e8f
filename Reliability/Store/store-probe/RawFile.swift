import Dispatch
import Glibc

/// A file to which is appended, with a sync each time. Removed at its end.
final class RawFile: Sendable {
  private let path: String
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "store-probe")

  init(_ path: String) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }

  deinit {
    close(descriptor)
    unsafe unlink(path)
  }

  func append(_ bytes: [UInt8]) {
    _ = unsafe write(descriptor, bytes, bytes.count)
    fdatasync(descriptor)
  }

  /// The same by another thread, for which the caller sleeps.
  func appendElsewhere(_ bytes: [UInt8]) {
    let done = DispatchSemaphore(value: 0)
    queue.async {
      self.append(bytes)
      done.signal()
    }
    done.wait()
  }
}
