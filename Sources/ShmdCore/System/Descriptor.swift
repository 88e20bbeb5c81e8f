import Glibc

/// Descriptors, by plain system calls.
enum Descriptor {
  /// Writes all of it, or as much as the descriptor takes.
  /// - Returns: 0, or the error number of the write that failed.
  @discardableResult
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress!, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest = rest.dropFirst(count)
    }
    return 0
  }

  /// `device:inode` of what a descriptor leads to, as `JOURNAL_STREAM` gives it.
  static func identity(of descriptor: Int32) -> String? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return "\(status.st_dev):\(status.st_ino)"
  }
}
