import CShims
import SharedMemory

/// Finds what of a damaged table can be saved: a walk over *data* alone that believes nothing and changes nothing
/// ("Repair" in DESIGN.md).
///
/// Kept is the newest committed version of each key whose entry is whole as far as that can be proven: where it lies,
/// what its header says, and that its key's hash belongs into the word that leads to it. The walk ends with what must
/// be stored to leave only that.
final class TableSalvage {
  /// A place in the directory: 2^bits words for the prefixes that begin with `prefix`.
  struct Level {
    let offset: Int
    let bits: Int
    let above: Int
    let prefix: UInt64
    /// Least depth of a sub-table here. Merges leave a node whose words all name one sub-table, of the root words' depth.
    var lowest: Int { above }
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

    /// Release: whoever follows a word finds the sub-table empty.
    func lead(to subTable: Int, in data: MappedMemory) {
      let word = DirectoryWord(subTable: subTable, depth: depth)
      for index in 0..<count { data.storeRelease(offset + index * 8, word.raw) }
    }
  }

  let data: MappedMemory
  let variant: Variant
  let hashSeed: UInt64
  let committed: UInt64
  var map: BitmapRebuild
  var homes: [Home] = []
  var vacancies: [Vacancy] = []
  /// Words of *data* to be stored at once: from then on nothing leads to what is not whole or was never committed.
  var stores: [Int: UInt64] = [:]
  /// One of these makes a version live again that another had superseded.
  var revivesOlder = false
  /// Words to be stored when no reader is left that began before: older versions and tombstones go.
  var lateStores: [(offset: Int, word: UInt64)] = []
  var keyCount = 0
  /// Words that lead to something that had to be given up.
  var dropped = 0
  /// Share of the hash's space whose directory words are beyond repair, in 2^22nds.
  var lostPrefixes = 0
  private(set) var losses: [String] = []
  private let voucher: [UInt8]?
  private var votes: [Int: [UInt8: Int]] = [:]

  static let maximumLosses = 10_000

  /// - Parameters:
  ///   - byteCount: how much of the data object there is.
  ///   - voucher: a key that is given up: its value says of the others what does not hold after a repair.
  init(_ segment: Segment, byteCount: Int, voucher: [UInt8]?) {
    self.voucher = voucher
    data = segment.data
    variant = segment.variant
    hashSeed = segment.hashSeed
    committed = segment.committed
    let units = min(segment.geometry.unitCount, (byteCount - segment.geometry.unitsOffset) / Geometry.unitBytes)
    map = BitmapRebuild(geometry: segment.geometry, unitCount: max(0, units))
  }

  func run() {
    DirectorySalvage(salvage: self).run()
    for home in homes { vote(home) }
    for (superframe, kinds) in votes where map.kinds[superframe] == 0 {
      map.setKind(superframe, kinds.max { ($0.value, $1.key) < ($1.value, $0.key) }!.key)
    }
    for home in homes { SubTableSalvage(salvage: self).run(home) }
  }

  func lose(_ loss: @autoclosure () -> String) {
    if losses.count < Self.maximumLosses { losses.append(loss()) }
  }

  /// Each entry votes for what its superframe is: an entry whose length lies is outvoted by its neighbours.
  private func vote(_ home: Home) {
    forEachWord(home) { word, _, bucket in
      guard case .whole(let entry) = find(word, bucket: bucket, in: home) else { return }
      let kind = BitmapRebuild.kind(code: entry.block.code)
      votes[map.superframe(entry.entry), default: [:]][kind, default: 0] += 1
    }
  }

  /// Live words of a sub-table and its successors.
  func forEachWord(_ home: Home, _ body: (UInt64, _ offset: Int, _ bucket: Int) -> Void) {
    for subTable in home.subTables {
      for index in 0..<(SubTable.bucketCount * 8) {
        let word = data.loadRelaxed(subTable + index * 8)
        if BucketWord.namesEntry(word) { body(word, subTable + index * 8, index / 8) }
      }
    }
  }

  func isVoucher(_ kept: Whole) -> Bool {
    guard let voucher else { return false }
    return unsafe key(kept).elementsEqual(voucher)
  }

  private func key(_ kept: Whole) -> UnsafeRawBufferPointer { unsafe key(ofEntry: kept.entry, kept.meta) }

  private func key(ofEntry entry: Int, _ meta: EntryMeta) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: data.pointer(entry + meta.keyOffset), count: meta.keyLength)
  }

  /// A key for people.
  func name(_ kept: Whole) -> String { name(ofEntry: kept.entry, kept.meta) }

  private func name(ofEntry entry: Int, _ meta: EntryMeta) -> String {
    "key '\(unsafe String.printableStart(key(ofEntry: entry, meta)))'"
  }

  /// As far as it is known which key a word that is given up was.
  func name(word: UInt64, at offset: Int) -> String {
    let entry = BucketWord.offset(word)
    guard isAligned(entry) else { return "a key (word at \(offset))" }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard meta.keyOffset + meta.keyLength <= map.limit - entry, meta.byteCount <= map.limit - entry else {
      return "a key (word at \(offset))"
    }
    return "perhaps \(name(ofEntry: entry, meta)) (word at \(offset))"
  }
}
