import Glibc

/// Descriptors, by plain system calls.
enum Descriptor {
  /// `device:inode` of what a descriptor leads to, as `JOURNAL_STREAM` gives it.
  static func identity(of descriptor: Int32) -> String? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return "\(status.st_dev):\(status.st_ino)"
  }
}
