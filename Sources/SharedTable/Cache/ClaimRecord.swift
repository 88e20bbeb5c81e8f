import SharedMemory
import Synchronization
import TableEngine

/// "I am computing this value": the bytes of a record in the table. ``ClaimedPlace`` sets it in a barrier, and so chooses the one
/// process on the host that computes.
///
/// It holds no lock: what it says is true as long as who wrote it lives, and anyone who finds that they do not may take
/// over, in the barrier that noticed. Its token tells it from every other claim, so that nobody releases another's.
/// (memcached calls the like a lease: R. Nishtala et al., "Scaling Memcache at Facebook", NSDI 2013.)
struct ClaimRecord: Sendable, Equatable {
  let presence: Presence
  /// The thread that computes; 0 for a task, which has none of its own.
  let tid: UInt64
  /// Process-unique.
  let token: UInt64
  /// CLOCK_MONOTONIC: when it was set.
  var since: UInt64
  /// Of the collection it belongs to: emptied meanwhile, the claim is void.
  var epoch: UInt64 = 0

  private static let lastToken = Atomic<UInt64>(0)

  /// A claim of this thread, or of a task of this process.
  init(_ table: Table, ofTask: Bool) throws(TableError) {
    do { presence = try table.segment.presence() } catch { throw table.named(error) }
    tid = ofTask ? 0 : UInt64(UInt32(bitPattern: ProcessIdentity.tid))
    token = Self.lastToken.add(1, ordering: .relaxed).newValue
    since = HostClock.monotonicNanoseconds
  }

  // MARK: - As it lies in the table

  static let wordCount = 8
  /// "shclaim" and the layout's number.
  private static let magic: UInt64 = 0x016d_6961_6c63_6873

  var words: [UInt64] {
    [Self.magic, presence.slot, presence.since, presence.pid, tid, token, since, epoch]
  }

  /// - Returns: nil if the bytes are no claim: then nobody computes.
  init?(_ found: FoundEntry) {
    let bytes = unsafe found.value
    guard found.meta.type == ValueType.bytes.rawValue, bytes.count == Self.wordCount * 8 else { return nil }
    func word(_ index: Int) -> UInt64 { unsafe bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    guard word(0) == Self.magic else { return nil }
    presence = Presence(slot: word(1), since: word(2), pid: word(3))
    tid = word(4)
    token = word(5)
    since = word(6)
    epoch = word(7)
  }

  // MARK: - Who

  func isLive(_ table: Table) throws(TableError) -> Bool {
    do { return try table.segment.isPresent(presence) } catch { throw table.named(error) }
  }

  /// The process that has set the claim, for messages.
  var holder: Holder {
    let pid = Int32(truncatingIfNeeded: presence.pid)
    return Holder(
      pid: pid, tid: Int32(truncatingIfNeeded: tid), command: ProcessIdentity.commandName(of: pid) ?? "?",
      heldNanoseconds: HostClock.monotonicNanoseconds &- since)
  }

  /// The claims whose values this thread or task is computing just now: waiting for one of them would never end. A task
  /// that a computing task starts inherits its list: the library cannot tell whether the computing task waits for the new one.
  @TaskLocal static var computing: [ClaimRecord] = []

  var isOwn: Bool { Self.computing.contains(self) }
}

extension EntryView {
  /// Does it say that somebody computes a value just now? In a copy of the table that would name a process that computes nothing there.
  package var isClaim: Bool { ClaimRecord(found) != nil }
}

extension Transaction {
  mutating func setClaim(_ key: [UInt8], _ claim: ClaimRecord) throws(TableError) {
    try unsafe claim.words.withUnsafeBufferPointer { words throws(TableError) in
      try unsafe set(key, bytes: UnsafeRawBufferPointer(words), type: .bytes)
    }
  }

  func claim(_ key: some TableKey) throws(TableError) -> ClaimRecord? { try find(key).flatMap { ClaimRecord($0) } }

  /// Removes a claim if it still stands.
  /// - Returns: whether it did.
  mutating func releaseClaim(_ key: some TableKey, _ claim: ClaimRecord) throws(TableError) -> Bool {
    guard try self.claim(key) == claim else { return false }
    return try remove(key)
  }
}
