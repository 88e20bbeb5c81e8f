import CShims
import SharedMemory

/// Backs large tables by huge pages (2 MiB), so that fewer reads miss the TLB: from the data object's beginning on, a part at a
/// time, behind what is backed so already.
///
/// A thread that made the table grow does it after it has given W back, and so does a daemon in its idle moments. The
/// kernel copies what lies there into one page while all others go on, and takes the small pages out of every process's
/// mapping; a process that touches the place next maps the huge page (madvise(2), MADV_COLLAPSE, Linux 6.1). Where the
/// kernel refuses, nothing changes, and it is asked again later: by a write as ``CollapseRefusal`` says, by the daemon
/// after the same rule.
///
/// Only whole huge pages of what is published: a hole would be filled, and would claim memory that the table may not need.
struct HugePages {
  private let mapping: Mapping
  private let data: MappedMemory
  /// Nil for an observer, who stores nothing.
  private let participant: Segment.Participant?

  private var ctl: MappedMemory? { participant?.ctl }

  /// Smaller tables mostly fit into the TLB's reach as they are.
  static let smallestTable = 16 << 20

  /// The most that a daemon does at once.
  static let bytesInAnIdleMoment = 32 << 20

  private static let pageBytes = Int(SHMOS_HUGE_BYTES)

  init(_ segment: Segment) {
    mapping = segment.dataMapping
    data = segment.data
    participant = segment.participant
  }

  /// Up to where the data object was backed by huge pages.
  static func bytes(_ ctl: MappedMemory) -> Int { Int(clamping: ctl.loadRelaxed(ControlLayout.hugeBytes)) }

  /// Backs what has become part of the table since the last time, at most `limit` bytes: some hundreds of µs for each 2 MiB. Stops where
  /// the kernel refuses.
  /// - Returns: the bytes that it backed.
  @discardableResult
  func catchUp(atMost limit: Int = .max) -> Int {
    guard let participant, let ctl, ctl.loadRelaxed(ControlLayout.wantsHugePages) != 0 else { return 0 }
    let end = wholePages
    guard end >= Self.smallestTable else { return 0 }
    let start = min(Self.bytes(ctl), end) & ~(Self.pageBytes - 1)
    var done = start
    while done < end, done - start <= limit - Self.pageBytes {
      guard mapping.collapse(from: done, count: Self.pageBytes) == Self.pageBytes else {
        participant.collapseRefusal.note(size: end)
        break
      }
      done += Self.pageBytes
    }
    // Another process may have shrunk the table meanwhile.
    if done > start { ctl.storeRelaxed(ControlLayout.hugeBytes, UInt64(min(done, wholePages))) }
    return max(0, done - start)
  }

  /// What a thread does after its barrier: as much as the barrier has made the table grow, and one page of what is left over from
  /// before, so that a small write waits for little. Nothing where the kernel has just refused.
  func catchUp(afterGrowthFrom size: Int) {
    guard let participant, !participant.collapseRefusal.stands(size: wholePages) else { return }
    catchUp(atMost: max(0, Int(clamping: data.loadAcquire(DataLayout.publishedBytes)) - size) + Self.pageBytes)
  }

  /// Backs all of the table, whatever its size and options, wherever the kernel does not refuse.
  /// - Returns: the bytes that this process maps by huge pages now.
  func backAll() -> Int {
    let bytes = mapping.collapse(from: 0, count: wholePages)
    if bytes == wholePages { ctl?.storeRelaxed(ControlLayout.hugeBytes, UInt64(bytes)) }
    return bytes
  }

  /// For the owner of W, which gives the pages from `end` on back to the system: they are backed by nothing any more.
  static func forget(from end: Int, _ ctl: MappedMemory) {
    if bytes(ctl) > end { ctl.storeRelaxed(ControlLayout.hugeBytes, UInt64(end & ~(pageBytes - 1))) }
  }

  private var wholePages: Int { Int(clamping: data.loadAcquire(DataLayout.publishedBytes)) & ~(Self.pageBytes - 1) }
}
