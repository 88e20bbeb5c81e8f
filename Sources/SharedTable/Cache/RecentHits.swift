import CShims
import Synchronization

/// What this process has lately read from one cache: a fixed array that forgets, so that a hit writes nothing shared.
///
/// Direct-mapped by the key's hash, one cell the latest hit of any key that falls into it: {hash, version of the table at
/// the hit}. Two keys of one cell overwrite each other; what is lost is that one of them was used. Cells are two words,
/// written apart by relaxed stores: a torn pair says of one recently used key when another was. Eviction needs no more.
///
/// Batching hits before they reach the replacement policy: X. Ding, S. Jiang, X. Zhang, "BP-Wrapper", ICDE 2009.
@usableFromInline @safe
final class RecentHits: @unchecked Sendable {
  // Sendable because cells are only touched by relaxed atomics and every pairing of their contents is harmless.
  @usableFromInline let cells: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  /// Versions between two looks whether the hits are wanted in the table.
  @usableFromInline let stride: UInt64
  /// The version of the last look.
  @usableFromInline let looked = Atomic<UInt64>(0)

  /// Up to which version the table was told, and how many elements had been added by then. By the cache's queue only.
  private let flushedVersion = Atomic<UInt64>(0)
  private let flushedInsertions = Atomic<UInt64>(.max)

  static let cellBytes = 16

  /// Room for the hits on so many elements, within 16 to 256 KiB: twice as many cells, so that few are forgotten early.
  init(elements: Int) {
    var count = 1024
    while count < 16_384, count < 2 * elements { count *= 2 }
    unsafe cells = .allocate(byteCount: count * Self.cellBytes, alignment: 64)
    unsafe cells.initializeMemory(as: UInt8.self, repeating: 0, count: count * Self.cellBytes)
    mask = count - 1
    stride = UInt64(min(1024, max(16, elements / 8)))
  }

  deinit { unsafe cells.deallocate() }

  /// Takes a hit down. Two loads in the frequent case, where the key was hit since the last commit already.
  /// - Returns: whether so much was committed since the last look that the hits may be wanted in the table.
  @inlinable @inline(__always)
  func note(_ hash: UInt64, version: UInt64) -> Bool {
    let cell = unsafe cells + (Int(truncatingIfNeeded: hash) & mask) &* 16
    if unsafe shm_load_relaxed(cell) != hash { unsafe shm_store_relaxed(cell, hash) }
    if unsafe shm_load_relaxed(cell + 8) != version { unsafe shm_store_relaxed(cell + 8, version) }
    return version &- looked.load(ordering: .relaxed) >= stride
  }

  /// Enters into a page's lines when this process last hit their keys.
  /// - Returns: whether that was later than they say.
  func enter(_ lines: UnsafeMutableBufferPointer<CachePage.Line>) -> Bool {
    var isLater = false
    for index in 0..<lines.count {
      let used = used(unsafe lines[index].hash)
      if used > (unsafe lines[index].used) {
        unsafe lines[index].used = used
        isLater = true
      }
    }
    return isLater
  }

  /// When this process last hit a key, as far as remembered, as a ledger says it; 0 if not.
  private func used(_ hash: UInt64) -> UInt64 {
    let cell = unsafe cells + (Int(truncatingIfNeeded: hash) & mask) &* Self.cellBytes
    return unsafe shm_load_relaxed(cell) == hash ? CacheLedger.used(atHit: shm_load_relaxed(cell + 8)) : 0
  }

  /// True for the one caller that is to look now.
  func takesTurn(version: UInt64) -> Bool {
    let last = looked.load(ordering: .relaxed)
    guard version &- last >= stride else { return false }
    return looked.compareExchange(expected: last, desired: version, ordering: .relaxed).exchanged
  }

  var versionAtFlush: UInt64 { flushedVersion.load(ordering: .relaxed) }
  var insertionsAtFlush: UInt64 { flushedInsertions.load(ordering: .relaxed) }

  func markFlushed(version: UInt64, insertions: UInt64) {
    flushedVersion.store(version, ordering: .relaxed)
    flushedInsertions.store(insertions, ordering: .relaxed)
  }

  /// The keys hit at `version` or later.
  func hashes(since version: UInt64) -> [UInt64] {
    var hashes: [UInt64] = []
    for index in 0...mask {
      let cell = unsafe cells + index &* Self.cellBytes
      if unsafe shm_load_relaxed(cell + 8) >= version, unsafe shm_load_relaxed(cell + 8) != 0 {
        hashes.append(unsafe shm_load_relaxed(cell))
      }
    }
    return hashes
  }
}
