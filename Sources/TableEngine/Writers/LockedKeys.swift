import CShims

/// The keys that a barrier locks or writes, by their hashes of 64 bits with the table's seed. Barriers of two keys with
/// the same hash wait for each other without need, and that is all.
///
/// A locked key stands for itself and for all keys that begin with it and a slash. So a set has keys in two roles, as
/// with the intention locks of Gray et al., "Granularity of Locks and Degrees of Consistency in a Shared Data Base"
/// (1976): *whole*, with all that lies below, or as a step on the *path* to another key: `a` and `a/b` for `a/b/c`. Two
/// sets meet if a key that is whole in one of them is in the other, in either role.
public struct LockedKeys: Sendable {
  /// The most hashes that a slot has room for.
  static let capacity = SHM_KEY_LOCK_HASHES

  /// Everything: meets every other set.
  private(set) var isTable = false
  private(set) var whole: [UInt64] = []
  private(set) var path: [UInt64] = []

  static let table = {
    var set = LockedKeys()
    set.isTable = true
    return set
  }()

  private init() {}

  /// Of keys that are locked; of the first of them, if they are more than can be.
  init(locking keys: [[UInt8]], seed: UInt64) {
    for key in keys where count <= Self.capacity { unsafe key.withUnsafeBytes { unsafe insert(whole: $0, seed: seed) } }
  }

  /// Of one key and all that lies below it.
  init(locking key: UnsafeRawBufferPointer, seed: UInt64) { unsafe insert(whole: key, seed: seed) }

  private mutating func insert(whole key: UnsafeRawBufferPointer, seed: UInt64) {
    guard let start = key.baseAddress else { return }
    Self.insert(unsafe shm_hash(start, key.count, seed), &whole)
    unsafe insertPath(to: key, seed: seed)
  }

  /// Of one key that is written, and nothing below it. Of an empty key none: the write is refused once it is admitted.
  init(writing key: UnsafeRawBufferPointer, seed: UInt64) {
    guard let start = key.baseAddress else { return }
    Self.insert(unsafe shm_hash(start, key.count, seed), &path)
    unsafe insertPath(to: key, seed: seed)
  }

  /// Inserts no more steps than can be locked. A key below more steps than that cannot be locked itself, since a slot
  /// would need room for the key and for all its steps. A key of 64 KiB may have as many slashes: all its steps would
  /// be 2 GiB to hash, perhaps under W.
  private mutating func insertPath(to key: UnsafeRawBufferPointer, seed: UInt64) {
    var left = Self.capacity
    for index in 1..<max(1, key.count) where unsafe key[index] == UInt8(ascii: "/") {
      Self.insert(unsafe shm_hash(key.baseAddress!, index, seed), &path)
      left -= 1
      if left == 0 { return }
    }
  }

  private static func insert(_ hash: UInt64, _ hashes: inout [UInt64]) {
    if !hashes.contains(hash) { hashes.append(hash) }
  }

  var count: Int { whole.count + path.count }

  func meets(_ other: LockedKeys) -> Bool {
    isTable || other.isTable || whole.contains { other.whole.contains($0) || other.path.contains($0) }
      || path.contains { other.whole.contains($0) }
  }

  // MARK: - In a slot

  /// Under W, by the slot's thread. A set that does not fit is that of a barrier of one key: its deepest steps are left
  /// out. The key itself comes first, and the steps that are stored still meet every section that locks one of them.
  func store(_ ctl: MappedMemory, slot: Int) {
    let slot = Slots.offset(slot)
    let steps = path.prefix(Self.capacity - whole.count)
    ctl.storeRelaxed(slot + SlotLayout.keyLockCounts, isTable ? .max : UInt64(whole.count) | UInt64(steps.count) << 32)
    for (index, hash) in (whole + steps).enumerated() {
      ctl.storeRelaxed(slot + SlotLayout.keyLockHashes + index * 8, hash)
    }
  }

  /// Under W; else it may be a mixture of two sets.
  init(_ ctl: MappedMemory, slot: Int) {
    let slot = Slots.offset(slot)
    let counts = ctl.loadRelaxed(slot + SlotLayout.keyLockCounts)
    isTable = counts == .max
    if isTable { return }
    let wholeCount = min(Int(counts & 0xffff_ffff), Self.capacity)
    let count = min(wholeCount + Int(counts >> 32), Self.capacity)
    let hashes = (0..<count).map { ctl.loadRelaxed(slot + SlotLayout.keyLockHashes + $0 * 8) }
    whole = Array(hashes[..<wholeCount])
    path = Array(hashes[wholeCount...])
  }
}

extension [UInt8] {
  /// Is a key this one, or below it?
  func covers(_ key: UnsafeRawBufferPointer) -> Bool {
    guard unsafe withUnsafeBytes({ unsafe key.begins(with: $0) }) else { return false }
    return unsafe key.count == count || key[count] == UInt8(ascii: "/")
  }
}
