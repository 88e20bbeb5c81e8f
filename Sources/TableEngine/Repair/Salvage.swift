import CShims
import SharedMemory

/// Finds what of a damaged table can be saved: a walk over *data* alone that believes nothing and changes nothing
/// ("Repair" in DESIGN.md).
///
/// Kept is the newest committed version of each key whose entry is whole as far as that can be proven: where it lies,
/// what its header says, and that its key's hash belongs into the word that leads to it. The walk ends with what must
/// be stored to leave only that.
final class Salvage {
  /// A place in the directory: 2^bits words for the prefixes that begin with `prefix`.
  struct Level {
    let offset: Int
    let bits: Int
    let above: Int
    let prefix: UInt64
    /// Least depth of a sub-table here.
    var lowest: Int { above == 0 ? 0 : above + 1 }
    /// Bits of the hash that a word stands for.
    var depth: Int { above + bits }
  }

  /// A sub-table that is kept, its prefix, and its successors if it is deep.
  struct Home {
    let word: DirectoryWord
    let prefix: UInt64
    var subTables: [Int]
  }

  /// Directory words that lead nowhere: an empty sub-table is to take their place.
  struct Vacancy {
    let offset: Int
    let count: Int
    let depth: Int
  }

  let data: Memory
  let variant: Variant
  let hashSeed: UInt64
  let committed: UInt64
  var map: BlockMap
  var homes: [Home] = []
  var vacancies: [Vacancy] = []
  /// Words of *data* to be stored at once: what is not whole, and what never was committed, is led to no more.
  var stores: [Int: UInt64] = [:]
  /// Words to be stored when no reader is left that began before: older versions and tombstones go.
  var lateStores: [(offset: Int, word: UInt64)] = []
  var keyCount = 0
  /// Words that lead to something that had to be given up.
  var dropped = 0
  /// Share of the hash's space whose directory words are beyond repair, in 2^22nds.
  var lostPrefixes = 0
  private(set) var losses: [String] = []
  private var votes: [Int: [UInt8: Int]] = [:]

  static let maximumLosses = 10_000

  /// - Parameter byteCount: how much of the data object there is.
  init(_ segment: Segment, byteCount: Int) {
    data = segment.data
    variant = segment.variant
    hashSeed = segment.hashSeed
    committed = segment.committed
    let units = min(segment.geometry.unitCount, (byteCount - segment.geometry.unitsOffset) / Geometry.unitBytes)
    map = BlockMap(geometry: segment.geometry, unitCount: max(0, units))
  }

  func run() {
    DirectorySalvage(salvage: self).run()
    for home in homes { vote(home) }
    for (superframe, kinds) in votes where map.kinds[superframe] == 0 {
      map.setKind(superframe, kinds.max { ($0.value, $1.key) < ($1.value, $0.key) }!.key)
    }
    for home in homes { EntrySalvage(salvage: self).run(home) }
  }

  func lose(_ loss: @autoclosure () -> String) {
    if losses.count < Self.maximumLosses { losses.append(loss()) }
  }

  // MARK: - Entries

  /// What a bucket word leads to, if that is whole.
  struct Whole {
    let entry: Int
    let meta: EntryMeta
    let hash: UInt64
  }

  enum Finding {
    case whole(Whole)
    /// Nothing that was ever committed: the word goes, and nothing is lost.
    case nothing
    case lost(String)
  }

  func find(_ word: UInt64, bucket: Int, in home: Home) -> Finding {
    guard let newest = inspect(BucketWord.offset(word)) else { return .lost("no entry") }
    guard word >> 48 == UInt64(BucketWord.tag(hash: newest.hash)), belongs(newest.hash, home, bucket: bucket) else {
      return .lost("another key's entry")
    }
    var entry = newest.entry
    var kept: Whole? = newest
    // Versions above `committed` are a barrier's that never ended: back to what was before it.
    var steps = 0
    var anchor = entry
    while data.loadRelaxed(entry + Entry.version) > committed {
      steps += 1
      // Every step to a power of two is remembered: a cycle comes back to it.
      if steps & (steps - 1) == 0 { anchor = entry }
      entry = Int(truncatingIfNeeded: data.loadRelaxed(entry + Entry.prev))
      if entry == 0, variant == .rcu { return .nothing }
      if entry == anchor { return .lost("its versions form a circle") }
      kept = inspect(entry).flatMap { $0.hash == newest.hash && isSameKey($0, newest) ? $0 : nil }
      guard let kept else { return .lost("changed by a barrier that never ended; its last value is not to be found") }
      entry = kept.entry
    }
    return kept.map(Finding.whole) ?? .nothing
  }

  private func belongs(_ hash: UInt64, _ home: Home, bucket: Int) -> Bool {
    let depth = UInt64(home.word.bits)
    guard depth == 0 || hash >> (64 - depth) == home.prefix else { return false }
    return home.word.isDeep || distance(hash, bucket) < SubTable.window
  }

  func distance(_ hash: UInt64, _ bucket: Int) -> Int {
    (bucket - Int(truncatingIfNeeded: hash)) & (SubTable.bucketCount - 1)
  }

  /// Nil if no entry can lie here, or its header is impossible.
  private func inspect(_ entry: Int) -> Whole? {
    guard isAligned(entry) else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard meta.byteCount <= map.limit - entry, map.isPlace(entry, byteCount: meta.byteCount) else { return nil }
    guard meta.flags >> 6 == 0, meta.alignmentShift <= 4, !meta.isTombstone || meta.valueLength == 0,
      data.loadRelaxed(entry + Entry.version) != 0
    else { return nil }
    for position in (meta.keyOffset + meta.keyLength)..<meta.valueOffset where data.byte(entry + position) != 0 {
      return nil
    }
    let hash = unsafe shm_hash(data.pointer(entry + meta.keyOffset), meta.keyLength, hashSeed)
    return Whole(entry: entry, meta: meta, hash: hash)
  }

  /// May its header be read?
  private func isAligned(_ entry: Int) -> Bool {
    map.places.mayHoldEntry(at: entry)
  }

  func isSameKey(_ one: Whole, _ other: Whole) -> Bool {
    one.meta.keyLength == other.meta.keyLength
      && (unsafe shm_equal(
        data.pointer(one.entry + one.meta.keyOffset), data.pointer(other.entry + other.meta.keyOffset),
        one.meta.keyLength))
  }

  /// Each entry votes for what its superframe is: an entry whose length lies is outvoted by its neighbours.
  private func vote(_ home: Home) {
    forEachWord(home) { word, _, bucket in
      guard case .whole(let entry) = find(word, bucket: bucket, in: home) else { return }
      let kind = BlockMap.kind(byteCount: entry.meta.byteCount)
      votes[map.superframe(entry.entry), default: [:]][kind, default: 0] += 1
    }
  }

  /// Live words of a sub-table and its successors.
  func forEachWord(_ home: Home, _ body: (UInt64, _ offset: Int, _ bucket: Int) -> Void) {
    for subTable in home.subTables {
      for index in 0..<(SubTable.bucketCount * 8) {
        let word = data.loadRelaxed(subTable + index * 8)
        if BucketWord.isLive(word) { body(word, subTable + index * 8, index / 8) }
      }
    }
  }

  /// A key for people.
  func name(_ kept: Whole) -> String {
    let key = unsafe UnsafeRawBufferPointer(
      start: data.pointer(kept.entry + kept.meta.keyOffset), count: kept.meta.keyLength)
    return "key '\(unsafe String(decoding: key.prefix(64), as: UTF8.self))'"
  }

  /// As far as it is known which key a word that is given up was.
  func name(word: UInt64, at offset: Int) -> String {
    let entry = BucketWord.offset(word)
    guard isAligned(entry) else { return "a key (word at \(offset))" }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard meta.keyOffset + meta.keyLength <= map.limit - entry, map.isPlace(entry, byteCount: meta.byteCount) else {
      return "a key (word at \(offset))"
    }
    let kept = Whole(entry: entry, meta: meta, hash: 0)
    return "perhaps \(name(kept)) (word at \(offset))"
  }
}
