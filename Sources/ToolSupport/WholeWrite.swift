import Glibc

/// Bytes for a descriptor, by plain system calls.
public enum WholeWrite {
  /// Writes all of them: goes on after an interruption, and after a write that took a part.
  /// - Parameter waits: what to do where the descriptor does not block and has no room: wait until it has, or fail with `EAGAIN`.
  /// - Returns: 0, or the error number of the write that failed.
  @discardableResult
  public static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32, waits: Bool) -> Int32 {
    let error = bytes.withContiguousStorageIfAvailable { bytes in
      unsafe write(UnsafeRawBufferPointer(bytes), to: descriptor, waits: waits)
    }
    return error ?? write(Array(bytes), to: descriptor, waits: waits)
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, waits: Bool) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count > 0 {
        done += count
      } else if count == 0 {
        // No descriptor says so; one that did would never take all.
        return EIO
      } else if errno == EAGAIN, waits {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
