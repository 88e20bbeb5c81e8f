import Glibc

/// The room of /dev/shm: statvfs(3).
public struct SharedMemoryRoom: Sendable {
  public let totalBytes: Int
  public let freeBytes: Int

  /// Nil where its size is not limited.
  /// - Throws: if it cannot be asked, as where nothing is mounted there.
  public init?() throws(SystemError) {
    var status = statvfs()
    guard unsafe statvfs("/dev/shm", &status) == 0 else { throw SystemError(call: "statvfs", errno: errno) }
    // tmpfs mounted with size=0 has no limit and says so with no blocks at all.
    if status.f_blocks == 0 { return nil }
    guard let total = Self.bytes(status.f_blocks, status), let free = Self.bytes(status.f_bavail, status) else {
      return nil
    }
    (totalBytes, freeBytes) = (total, free)
  }

  private static func bytes(_ blocks: fsblkcnt_t, _ status: statvfs) -> Int? {
    let (bytes, overflow) = UInt(blocks).multipliedReportingOverflow(by: UInt(status.f_frsize))
    return overflow ? nil : Int(clamping: bytes)
  }
}
