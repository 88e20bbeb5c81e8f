import Glibc
import SharedMemory
import SharedTable
import TableMetrics
import ToolSupport

/// What of the host may do harm to its tables. Each check is a function of what was read, so that tests need no such host.
struct HostHealth {
  let listings: [TableListing]

  func findings() throws -> [Finding] {
    [
      Self.room(free: try Table.freeBytes(), claims: claims),
      Self.membarrier(Table.hasMembarrier),
      Self.addressSpace(limit: Self.limit(RLIMIT_AS), needed: needed),
      Self.descriptors(limit: Self.limit(RLIMIT_NOFILE), tables: listings.count),
      Self.hiddenProcesses(canSeeInit: HostFile.read("/proc/1/status") != nil),
      Self.failedUnit(ServiceState.ofDaemon()),
    ].compactMap { $0 } + RemoveIPC.findings(owners: owners, configuration: RemoveIPC.configuration())
  }

  /// Whose tables lie on the host, by the first of each.
  private var owners: [(id: UInt32, table: String)] {
    var seen: Swift.Set<UInt32> = []
    return listings.compactMap { listing in
      guard case .foreign = listing.condition else {
        guard let id = listing.object?.owner.id, seen.insert(id).inserted else { return nil }
        return (id, listing.name)
      }
      return nil
    }
  }

  private var tables: [Table] {
    listings.compactMap { listing in
      if case .table(let table) = listing.condition { table } else { nil }
    }
  }

  /// What tables may still claim from /dev/shm.
  private var claims: Int { tables.reduce(0) { $0 + max(0, $1.capacityBytes - $1.statistics.claimedBytes) } }
  /// Address space that a process takes which opens all of them; the control objects' part is an estimate from above.
  private var needed: Int { tables.reduce(0) { $0 + 3 * $1.capacityBytes } }

  private static func limit(_ resource: __rlimit_resource) -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != .max else {
      return nil
    }
    return UInt64(limit.rlim_cur)
  }

  // MARK: - The checks

  static func room(free: Int?, claims: Int) -> Finding? {
    guard let free, claims > free else { return nil }
    return Finding(
      "room", "tables may still claim \(Phrase.size(claims)), and /dev/shm has room for \(Phrase.size(free))",
      cure: "mount -o remount,size=\(mebibytes(claims - free)) /dev/shm    # more than that, or drop tables")
  }

  /// What the file system would need in all, as mount(8) takes it.
  private static func mebibytes(_ missing: Int) -> String {
    var status = statvfs()
    guard unsafe statvfs("/dev/shm", &status) == 0 else { return "75%" }
    let total = Int(clamping: UInt64(status.f_blocks) * UInt64(status.f_frsize)) + missing
    return "\((total + (1 << 20) - 1) >> 20)m"
  }

  static func membarrier(_ isThere: Bool) -> Finding? {
    if isThere { return nil }
    return Finding(
      "membarrier",
      "the kernel or a sandbox denies membarrier(2): each read takes a full fence, and only some processes reclaim",
      cure:
        "systemctl edit SERVICE    # [Service] SystemCallFilter=membarrier; for containers: allow it in the seccomp profile"
    )
  }

  static func addressSpace(limit: UInt64?, needed: Int) -> Finding? {
    guard let limit, UInt64(needed) > limit else { return nil }
    return Finding(
      "addressSpace", "RLIMIT_AS is \(limit >> 20) MiB, and mapping all tables may take \(needed >> 20) MiB",
      cure: "ulimit -v unlimited    # in a unit: LimitAS=infinity")
  }

  /// Two a table, and what else a process has open.
  static func descriptors(limit: UInt64?, tables: Int) -> Finding? {
    let needed = 2 * tables + 64
    guard let limit, UInt64(needed) > limit else { return nil }
    return Finding(
      "descriptors", "RLIMIT_NOFILE is \(limit), and opening all tables takes \(needed)",
      cure: "ulimit -n \(max(4096, needed))    # in a unit: LimitNOFILE=\(max(4096, needed))")
  }

  static func hiddenProcesses(canSeeInit: Bool) -> Finding? {
    if canSeeInit { return nil }
    return Finding(
      "hiddenProcesses", "/proc hides other users' processes (hidepid): stopped holders cannot be told",
      cure: "sudo shmctl doctor    # or: mount -o remount,hidepid=0 /proc")
  }

  static func failedUnit(_ state: String?) -> Finding? {
    guard state == "failed" else { return nil }
    return Finding(
      "failedUnit", "the service shmd has failed",
      cure: "systemctl status shmd; systemctl reset-failed shmd; systemctl start shmd")
  }
}
