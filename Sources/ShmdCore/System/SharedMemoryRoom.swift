import Glibc

/// The room of /dev/shm. Nil where it has no limit, or cannot be asked.
enum SharedMemoryRoom {
  static var totalBytes: Int? { look().flatMap { bytes($0.f_blocks, $0) } }
  static var freeBytes: Int? { look().flatMap { bytes($0.f_bavail, $0) } }

  private static func look() -> statvfs? {
    var status = statvfs()
    // tmpfs mounted with size=0 has no limit and says so with no blocks at all.
    return unsafe statvfs("/dev/shm", &status) == 0 && status.f_blocks > 0 ? status : nil
  }

  private static func bytes(_ blocks: fsblkcnt_t, _ status: statvfs) -> Int? {
    let (bytes, overflow) = UInt(blocks).multipliedReportingOverflow(by: UInt(status.f_frsize))
    return overflow ? nil : Int(exactly: bytes)
  }
}
