import Glibc

/// The descriptors 0, 1 and 2, which every process expects to be open.
enum StandardDescriptors {
  /// Opens what the caller left closed, so that no object of a table gets the number 1 and takes our output for its
  /// contents. Opened the wrong way round: using one still fails.
  static func openClosed() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }
}
