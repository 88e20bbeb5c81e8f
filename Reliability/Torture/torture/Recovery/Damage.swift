import SharedTable
import TableEngine
import TestSupport

/// Seeded damage to a table, of kinds that no crash explains, and which keys each may cost.
struct Damage {
  let table: Table
  var generator: SplitMix
  /// Keys whose loss, or changed value, is explained.
  private(set) var touched: Set<String> = []
  private(set) var log: [String] = []
  private var damagedRoots: Set<Int> = []

  private var data: MappedMemory { table.segment.data }
  private var ctl: MappedMemory { table.segment.controlMemory! }
  private var geometry: Geometry { table.segment.geometry }

  init(_ table: Table, _ generator: SplitMix) {
    self.table = table
    self.generator = generator
  }

  /// One stroke at something that only participants map.
  mutating func strikeControl() {
    switch generator.below(9) {
    case 0: store("the damaged flag", ctl, ControlLayout.damaged, 1)
    case 1: store("the journal's count", ctl, ControlLayout.journal + 8, wild())
    case 2:
      for record in 0..<8 { store("a journal record", ctl, geometry.journalOffset + record * 16, wild()) }
      store("the journal's version", ctl, ControlLayout.journal, table.version + 1)
      store("the journal's count", ctl, ControlLayout.journal + 8, 4)
    case 3:
      let ring = [ControlLayout.limbo, ControlLayout.superseded, ControlLayout.retained][generator.below(3)]
      store("a ring's position", ctl, ring + generator.below(7) * 8, wild())
    case 4:
      let ring = [geometry.limboOffset, geometry.supersededOffset, geometry.retainedOffset][generator.below(3)]
      store("a ring's record", ctl, ring + generator.below(256) * 8, wild())
    case 5:
      let fields = [
        ControlLayout.garbageBytes, ControlLayout.units, ControlLayout.journalAllocated, ControlLayout.slotsHighWater,
        ControlLayout.retainedRescanEnd,
      ]
      store("a counter", ctl, fields[generator.below(fields.count)], wild())
    default:
      let units = Int(min(ctl.loadRelaxed(ControlLayout.units), UInt64(geometry.unitCount)))
      for _ in 0..<(1 + generator.below(40)) {
        let word = generator.below(max(1, units) * UnitLayout.byteCount / 8) * 8
        store("an allocator's word", ctl, geometry.descriptorsOffset + word, wild())
      }
    }
  }

  /// One stroke at what readers map.
  mutating func strikeData() {
    switch generator.below(8) {
    case 0: store("the key count", data, DataLayout.keyCounts + Int(table.version % 64) * 8, wild())
    case 1: store("the log", data, DataLayout.logEndPosition + generator.below(4) * 8, wild())
    case 2: store("a log record", data, DataLayout.log + generator.below(64) * 16 + 8 + generator.below(2) * 8, wild())
    case 3: store("wseq", data, DataLayout.wseq, data.loadRelaxed(DataLayout.wseq) | 1)
    case 4: strikeRoot()
    case 5: strikeEntry()
    default: strikeWord()
    }
  }

  // MARK: - Index

  /// A directory word; what is mostly left of its group can be restored.
  private mutating func strikeRoot() {
    let index = generator.below(1 << DataLayout.rootBits)
    let old = data.loadRelaxed(DataLayout.root + index * 8)
    let isNode = old >> 63 != 0
    let bits = Int(old >> 56) & 63
    let span = isNode ? 1 : 1 << (DataLayout.rootBits - bits)
    let first = index & ~(span - 1)
    // A second stroke at the same group may be one too many.
    let isAlone = (first..<(first + span)).allSatisfy { !damagedRoots.contains($0) }
    damagedRoots.insert(index)
    if !isAlone || span < 4 { touch(first..<(first + span)) }
    let other = data.loadRelaxed(DataLayout.root + generator.below(1 << DataLayout.rootBits) * 8)
    store("directory word \(index)", data, DataLayout.root + index * 8, generator.below(3) == 0 ? other : wild())
  }

  private mutating func touch(_ roots: Range<Int>) {
    for key in everyKey() {
      let hash = key.withUTF8Buffer { table.segment.hash(UnsafeRawBufferPointer($0)) }
      if roots.contains(Int(hash >> 54)) { touched.insert(key) }
    }
  }

  private mutating func strikeWord() {
    guard let place = randomWord(), let key = key(of: place) else { return }
    touched.insert(key)
    let word = data.loadRelaxed(place)
    let others = [
      0, 1 << 48, 5 << 48, wild(), word ^ 1 << UInt64(generator.below(64)), word &+ 16,
      word & 0xffff << 48 | wild() & 0xffff_fff0,
    ]
    var new = others[generator.below(others.count)]
    if generator.below(4) == 0, let other = randomWord() { new = data.loadRelaxed(other) }
    store("the word of \(key)", data, place, new)
  }

  private mutating func strikeEntry() {
    guard let place = randomWord(), let key = key(of: place) else { return }
    let entry = Int(data.loadRelaxed(place) & (1 << 48 - 1))
    switch generator.below(5) {
    case 0:
      touched.insert(key)
      store("the version of \(key)", data, entry, generator.below(2) == 0 ? table.version + 3 : wild())
    case 1:
      touched.insert(key)
      let meta = data.loadRelaxed(entry + 16)
      store(
        "the meta of \(key)", data, entry + 16,
        generator.below(2) == 0 ? wild() : meta ^ 1 << UInt64(generator.below(64)))
    case 2:
      touched.insert(key)
      store("the bytes of \(key)", data, entry + 24, wild())
    default:
      guard table.variant == .rcu || generator.below(2) == 0 else { return }
      store("the chain of \(key)", data, entry + 8, generator.below(2) == 0 ? UInt64(entry) : wild() & 0xffff_fff0)
    }
  }

  /// A live word somewhere in the index, if what leads there is still whole.
  private mutating func randomWord() -> Int? {
    for _ in 0..<100 {
      var word = data.loadRelaxed(DataLayout.root + generator.below(1 << DataLayout.rootBits) * 8)
      if word >> 63 != 0 {
        guard let node = inside(word) else { continue }
        word = data.loadRelaxed(node + generator.below(1 << (Int(word >> 56) & 15)) * 8)
      }
      guard let subTable = inside(word), word >> 63 == 0, subTable % 4096 == 0 else { continue }
      let place = subTable + generator.below(2048) * 8
      if inside(data.loadRelaxed(place)) != nil { return place }
    }
    return nil
  }

  private func inside(_ word: UInt64) -> Int? {
    let offset = Int(word & (1 << 48 - 1))
    return offset % 16 == 0 && offset >= geometry.unitsOffset && offset < geometry.unitsOffset + (1 << 20)
      ? offset : nil
  }

  private func key(of place: Int) -> String? {
    guard let entry = inside(data.loadRelaxed(place)) else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + 16))
    guard meta.keyLength <= 32 else { return nil }
    let bytes = UnsafeRawBufferPointer(start: data.pointer(entry + 24), count: meta.keyLength)
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: - Words

  private mutating func wild() -> UInt64 {
    switch generator.below(4) {
    case 0: generator.next()
    case 1: generator.next() & 0xffff
    case 2: generator.next() & 0xff_ffff
    default: [0, .max, 1 << 63, 1][generator.below(4)]
    }
  }

  private mutating func store(_ what: String, _ memory: MappedMemory, _ offset: Int, _ word: UInt64) {
    log.append("\(what) at \(offset): \(word)")
    memory.storeRelaxed(offset, word)
  }

  /// Set before the first stroke.
  var everyKey: () -> [String] = { [] }
}

extension String {
  fileprivate func withUTF8Buffer<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    var copy = self
    return copy.withUTF8(body)
  }
}
