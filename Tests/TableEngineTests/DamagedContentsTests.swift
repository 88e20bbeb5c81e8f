import CShims
import Glibc
import SharedMemory
import SharedTable
import TableTestSupport
import TestSupport
import Testing

@testable import TableEngine

/// Contents that no writer of ours makes (G8): what the fuzzer (Reliability/Fuzz) found, one by one.
@Suite struct DamagedContentsTests {
  /// Words of an object that is changed behind the table's back.
  private struct Words {
    let object: SharedObject
    let mapping: Mapping

    init(_ name: String) throws {
      object = try SharedObject.open(name: name, writable: true)
      mapping = try object.map(count: try object.status().size, writable: true)
    }

    subscript(offset: Int) -> UInt64 {
      get { mapping.withBase { shm_load_relaxed($0 + offset) } }
      nonmutating set { mapping.withBase { shm_store_relaxed($0 + offset, newValue) } }
    }

    /// Offset of the only live word of the only sub-table.
    func firstBucketWord() -> Int {
      let subTable = Int(self[DataLayout.root] & 0xffff_ffff_ffff)
      return (0..<2048).map { subTable + $0 * 8 }.first { self[$0] & 0xffff_ffff_ffff != 0 }!
    }
  }

  private func withTable(
    _ variant: Table.Variant = .rcu, capacityBytes: Int = 2 << 20, _ body: (Table, String) throws -> Void
  ) throws {
    try withTableName { (name: String) throws -> Void in
      try body(try Table.create(name, .init(variant: variant, capacityBytes: capacityBytes)), name)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anObserverThatIsGoneLeavesNothingInTheThread(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table, name throws in
      try table.set("key", 1)
      for _ in 0..<40 {
        let observer = try Table.open(name, access: .observer)
        #expect(try observer.read { _ in try observer.get("key", as: Int.self) } == 1)
        #expect(shm_thread_find(observer.segment.id) == nil)
      }
    }
  }

  /// What it keeps of each sub-table must not pile up until the bytes that it met are as many as the table has.
  @Test func anObserverFindsACircleOfSubTablesAtOnce() throws {
    try withTable(capacityBytes: 64 << 20) { table, name throws in
      for index in 0..<100 { try table.set("key \(index)", index) }
      let words = try Words("shmtable.\(name).data")
      let observer = try Table.open(name, access: .observer)
      let subTable = Int(DirectoryWord(words[DataLayout.root]).offset)
      words[subTable + SubTable.link] = UInt64(subTable)
      for place in 0..<1024 { words[DataLayout.root + place * 8] |= DirectoryWord.deep }
      let damage = error { try observer.read { view in try view.forEach { _, _ in } } }
      #expect(damage?.code == .damaged)
      #expect(damage?.message.contains("sub-tables' links") == true, "\(String(describing: damage))")
    }
  }

  private static let longLength = 128 << 10

  /// A process that may write the data object can make it as long as the table may get, and needs no memory for that. The table has one long
  /// value under "key".
  private func withObjectAsLongAsItMayGet(_ body: (_ name: String, Words, _ end: Int) throws -> Void) throws {
    try withTable(capacityBytes: 1 << 30) { table, name throws in
      try table.set("key", [UInt8](repeating: 0, count: Self.longLength))
      let words = try Words("shmtable.\(name).data")
      let end = table.segment.geometry.dataBytes
      try words.object.truncate(to: end)
      words[DataLayout.publishedBytes] = UInt64(end)
      try body(name, words, end)
    }
  }

  /// Has an observer look for a key of a table that is damaged.
  /// - Returns: the walk, of which it is known that it found damage.
  private func search(_ name: String, _ key: String) throws -> ObserverLookup {
    let segment = try Table.open(name, access: .observer).segment
    var lookup = try ObserverLookup(segment, timeoutNanoseconds: 0)
    #expect(throws: ObserverLookup.Inconsistent.self) {
      _ = try Array(key.utf8).withUnsafeBytes { try lookup.find($0, hash: segment.hash($0)) }
    }
    return lookup
  }

  /// Makes versions of a key out of its value: a chain that no snapshot sees anything of.
  /// - Parameters:
  ///   - valueLength: how many bytes each claims to have as its value.
  ///   - last: where the oldest one leads to, given the newest one's place.
  /// - Returns: what each claims to be.
  private func chain(_ words: Words, count: Int, valueLength: Int, last: (Int) -> Int) -> EntryMeta {
    let newest = Int(words[words.firstBucketWord()] & BucketWord.offsetMask)
    let meta = EntryMeta(raw: words[newest + Entry.meta]).with(valueLength: valueLength)
    let places = (0..<count).map { newest + $0 * 64 }
    for (place, next) in zip(places, places.dropFirst() + [last(newest)]) {
      words[place + Entry.version] = .max
      words[place + Entry.prev] = UInt64(next)
      words[place + Entry.meta] = meta.raw
    }
    return meta
  }

  /// A walk over the same bytes again and again must not last as long as the object's length would let it, though it is at no place twice.
  @Test func aWalkOverItselfIsBoundedByTheMemoryThatTheObjectHas() throws {
    try withObjectAsLongAsItMayGet { name, words, end throws in
      let meta = chain(words, count: 512, valueLength: Self.longLength) { _ in 0 }
      let allocated = try words.object.status().allocated
      try #require(allocated < 256 * meta.byteCount)
      let lookup = try search(name, "key")
      #expect(lookup.metBytes <= allocated + meta.byteCount)
      #expect(lookup.limit == end)
    }
  }

  /// In a table of much memory, a walk that goes on until it has met as many bytes takes far longer than any timeout.
  @Test(arguments: [1, 2, 100]) func anObserverFindsACircleOfVersionsLongBeforeItHasMetAllMemory(_ count: Int) throws {
    try withObjectAsLongAsItMayGet { name, words, _ throws in
      let meta = chain(words, count: count, valueLength: 8) { $0 }
      #expect(try search(name, "key").metBytes <= SubTable.byteCount + 4 * (count + 1) * meta.byteCount)
    }
  }

  @Test func anObserverFindsACircleOfLinksLongBeforeItHasMetAllMemory() throws {
    try withObjectAsLongAsItMayGet { name, words, _ throws in
      let subTable = Int(DirectoryWord(words[DataLayout.root]).offset)
      for slot in 0..<2048 where words[subTable + slot * 8] == BucketWord.empty {
        words[subTable + slot * 8] = BucketWord.deleted
      }
      words[subTable + SubTable.link] = UInt64(subTable)
      for place in 0..<1024 { words[DataLayout.root + place * 8] |= DirectoryWord.deep }
      #expect(try search(name, "absent").metBytes <= 4 * SubTable.deepByteCount)
    }
  }

  /// A process that may write the object needs 8 bytes to have an observer look at 16 KiB that are not there.
  @Test func aScanClaimsNoPagesThatTheObjectDoesNotHave() throws {
    try withObjectAsLongAsItMayGet { name, words, end throws in
      for place in 0..<1024 {
        words[DataLayout.rootWord(place)] =
          DirectoryWord(subTable: end - (place + 1) * SubTable.byteCount & ~4095, depth: DataLayout.rootBits).raw
      }
      let observer = try Table.open(name, access: .observer)
      let allocated = try words.object.status().allocated
      #expect(try observer.read { view in try view.keys() } == [])
      #expect(try words.object.status().allocated == allocated)
    }
  }

  /// An observer's record of a thread is its section's: an opening that comes to no section leaves none.
  @Test func anObserverThatFindsTheTableBusyLeavesNothingInTheThread() throws {
    try withTable(.rwlock) { table, name throws in
      try table.set("key", 1)
      let words = try Words("shmtable.\(name).data")
      words[DataLayout.wseq] |= 1
      for _ in 0..<40 {
        let observer = try Table.open(name, access: .observer, timeout: .nanoseconds(1))
        #expect(code { _ = try observer.get("key", as: Int.self) } == .busy)
        #expect(code { _ = try observer.read { view in try view.count() } } == .busy)
        #expect(shm_thread_find(observer.segment.id) == nil)
      }
    }
  }

  /// Who may write the object may also make it longer than its header says.
  @Test func anObjectLongerThanItsMappingIsNotReadBeyondIt() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let observer = try Table.open(name, access: .observer)
      let end = observer.segment.geometry.dataBytes
      let words = try Words("shmtable.\(name).data")
      try words.object.allocate(offset: end, count: 1 << 16)
      words[DataLayout.publishedBytes] = UInt64(end + 1 << 16)
      let word = words.firstBucketWord()
      words[word] = words[word] & 0xffff << 48 | UInt64(end)
      #expect(code { _ = try observer.get("key", as: Int.self) } == .damaged)
      #expect(code { _ = try observer.read { view in try view.count() } } == .damaged)
    }
  }

  /// One directory word that claims the deepest level would have one sub-table scanned 4,096 times.
  @Test func aDirectoryThatLeadsInCirclesIsDamage() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let observer = try Table.open(name, access: .observer)
      let words = try Words("shmtable.\(name).data")
      words[DataLayout.root] |= 22 << 56
      #expect(code { _ = try observer.read { view in try view.count() } } == .damaged)
    }
  }

  /// Of threads that share a scan each visits some parts only.
  @Test func aDirectoryThatLeadsInCirclesIsDamageAlsoToEachThreadOfAScan() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let observer = try Table.open(name, access: .observer)
      let words = try Words("shmtable.\(name).data")
      words[DataLayout.root] |= 22 << 56
      var lookup = try ObserverLookup(observer.segment, timeoutNanoseconds: 0)
      #expect(throws: ObserverLookup.Inconsistent.self) {
        for part in stride(from: UInt64(0), to: 1 << 12, by: 2) {
          _ = try lookup.visit(hash: part << UInt64(64 - SubTable.maximumDepth)) { _, _ in }
        }
      }
    }
  }

  /// Else a key would seem to be absent, and a scan to be at its end.
  @Test(arguments: Table.Variant.allCases, [0, 64])
  func aDirectoryWordThatLeadsIntoTheHeaderIsDamage(_ variant: Table.Variant, offset: UInt64) throws {
    try withTable(variant) { table, name throws in
      let index = 512
      let key = KeyForge(seed: table.segment.hashSeed).key(hash: UInt64(index) << 54)
      // So many that the scan comes to this word: it begins a sub-table.
      for other in 0..<3_000 { try table.set("key \(other)", other) }
      try table.set(key, 1)
      let observer = try Table.open(name, access: .observer)
      #expect(try observer.get(key, as: Int.self) == 1)
      try Words("shmtable.\(name).data")[DataLayout.rootWord(index)] = offset
      #expect(code { _ = try observer.get(key, as: Int.self) } == .damaged)
      #expect(code { try observer.read { view in try view.forEach { _, _ in } } } == .damaged)
    }
  }

  @Test(arguments: Table.Variant.allCases) func wordsThatAllNameOneLongValueAreDamage(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 16 << 20) { table, name throws in
      try table.set("key", [UInt8](repeating: 1, count: 4 << 20))
      let observer = try Table.open(name, access: .observer)
      let words = try Words("shmtable.\(name).data")
      let first = words.firstBucketWord()
      let subTable = Int(words[DataLayout.root] & 0xffff_ffff_ffff)
      for index in 0..<2048 { words[subTable + index * 8] = words[first] }
      #expect(code { _ = try observer.read { view in try view.count() } } == .damaged)
    }
  }

  @Test func aChainThatBitesItsTailIsDamage() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let observer = try Table.open(name, access: .observer)
      let words = try Words("shmtable.\(name).data")
      let entry = Int(words[words.firstBucketWord()] & 0xffff_ffff_ffff)
      words[entry] = .max  // its version: above every snapshot
      words[entry + 8] = UInt64(entry)
      #expect(code { _ = try observer.get("key", as: Int.self) } == .damaged)
    }
  }

  /// A table that never lets an observer be quiet: its single read ends with its time, not with its attempts.
  @Test func anObserverWhoseTimeIsOverIsBusy() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let observer = try Table.open(name, access: .observer, timeout: .nanoseconds(1))
      try Words("shmtable.\(name).data")[DataLayout.reclaimed] = .max
      #expect(code { _ = try observer.get("key", as: Int.self) } == .busy)
    }
  }

  @Test(arguments: [(DataLayout.capacity, 4 << 20), (DataLayout.versionAndVariant, 2 << 32 | 1)] as [(Int, UInt64)])
  func aControlObjectOfAnotherTableIsRefusedAtAttach(_ word: Int, _ value: UInt64) throws {
    try withTable { table, name throws in
      try Words("shmtable.\(name).ctl")[word] = value
      #expect(code { _ = try Table.open(name, access: .participant) } == .damaged)
    }
  }

  /// Who has the table open can repair it: what its opening refuses, a check finds.
  /// - Parameter word: offset in the control object.
  @Test(
    arguments: [
      (ControlLayout.units, 0), (ControlLayout.units, 3), (ControlLayout.slotsHighWater, 1025),
      (ControlLayout.limboBudget, UInt64.max), (ControlLayout.journalAllocated, 1 << 40),
      (ControlLayout.journal + 8, 1 << 60), (ControlLayout.limbo + 16, 1 << 50 - 1),
      (ControlLayout.superseded + 16, 600), (ControlLayout.retained + 16, 0),
    ] as [(Int, UInt64)])
  func aControlObjectThatCannotBeIsRefusedAtAttachAndRepaired(_ word: Int, _ value: UInt64) throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      try Words("shmtable.\(name).ctl")[word] = value
      #expect(code { _ = try Table.open(name, access: .participant) } == .damaged)
      #expect(try table.check() != [])
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      #expect(try Table.open(name, access: .participant).get("key", as: Int.self) == 1)
    }
  }

  /// The rcu variant does not use it.
  @Test(arguments: Table.Variant.allCases) func anRWLocksGenerationThatCannotBeIsDamage(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table, name throws in
      let words = try Words("shmtable.\(name).ctl")
      let generation = words[ControlLayout.rwState]
      words[ControlLayout.rwState] = 1 << 63
      let refusal = code { _ = try Table.open(name, access: .participant) }
      #expect(refusal == (variant == .rwlock ? .damaged : nil))
      words[ControlLayout.rwState] = generation
      guard variant == .rwlock else { return }
      // Too high by far, but each barrier gets by. A repair that began would leave the table marked, and useless.
      let abandoned = words[RWLayout.abandoned]
      words[RWLayout.abandoned] = 1 << 62
      #expect(try table.check() != [])
      #expect(code { _ = try table.repair() } == .damaged)
      try table.set("key", 1)
      #expect(try table.get("key", as: Int.self) == 1)
      words[RWLayout.abandoned] = abandoned
      #expect(try table.check() == [])
    }
  }

  /// A repair would give up such an entry, though readers find it.
  @Test(arguments: Table.Variant.allCases) func whatSalvageRefusesOfAnEntryIsChecked(_ variant: Table.Variant) throws {
    try withTable(variant) { table, name throws in
      try table.set("key", 1)
      let words = try Words("shmtable.\(name).data")
      let entry = BucketWord.offset(words[words.firstBucketWord()])
      let meta = words[entry + Entry.meta]
      let shift = UInt64(48 + SHM_ENTRY_ALIGNMENT_SHIFT)
      for damaged in [meta | 1 << 55, meta | 5 << shift, meta | 7 << shift, meta | EntryMeta.tombstoneFlag << 48] {
        words[entry + Entry.meta] = damaged
        #expect(try table.check() != [], "\(String(damaged, radix: 16))")
      }
      words[entry + Entry.meta] = meta
      let version = words[entry + Entry.version]
      words[entry + Entry.version] = 0
      #expect(try table.check() != [])
      words[entry + Entry.version] = version
      #expect(try table.check() == [])
    }
  }

  /// The hash's low bits name the bucket: read as a signed number these hashes lie at the end of the range.
  @Test func keysOfTheLeastSignedHashesAreCheckedAndKept() throws {
    try withTable { table, name throws in
      let forge = KeyForge(seed: table.segment.hashSeed)
      for low in 0..<UInt64(256) { try table.set(forge.key(hash: 1 << 63 | low), Int(low)) }
      #expect(try table.check() == [])
      // Nothing but a count: a repair looks at all the rest.
      try Words("shmtable.\(name).data")[WriterState.keyCountWord(table.version)] += 1
      let report = try table.repair()
      #expect(report.isRepaired && report.keptCount == 256)
      #expect(try table.check() == [])
    }
  }

  /// - Parameters:
  ///   - position: of the oldest record.
  ///   - record: how many bytes it claims.
  @Test(
    arguments: [
      (.max << 16, 0xffff_fff0), (0, 0xffff_fff0), (0, 16), (1 << 60, 48), (192 << 10, 65 << 10),
    ] as [(UInt64, UInt64)])
  func aChangeLogThatCannotBeIsDamageAndIsBegunAnew(_ position: UInt64, _ record: UInt64) throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let words = try Words("shmtable.\(name).data")
      let place = DataLayout.log + Int(position % UInt64(table.segment.geometry.logBytes))
      words[place] = table.version
      words[place + 8] = record | 1 << 32
      words[DataLayout.logTailPosition] = position
      words[DataLayout.logEndPosition] = position &+ min(record, 48)
      #expect(try table.check().contains { $0.contains("change log") })
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      #expect(try table.get("key", as: Int.self) == 1)
    }
  }

  /// A look at a record behind the object's end would be SIGBUS.
  @Test func aRingThatClaimsMoreMemoryThanThereIsIsDamage() throws {
    try withTable { table, name throws in
      try table.set("key", 1)
      let words = try Words("shmtable.\(name).ctl")
      let records = UInt64(table.segment.geometry.limboRecords)
      words[ControlLayout.retained + shm_ring_mask_offset] = records - 1
      words[ControlLayout.retained + shm_ring_head_offset] = records - 2
      words[ControlLayout.retained + shm_ring_tail_offset] = records - 1
      #expect(try table.check().contains { $0.contains("records") })
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      #expect(try table.get("key", as: Int.self) == 1)
    }
  }

  /// A page behind the table's end is memory that was given back: a look at it would claim it again.
  @Test func aCheckDoesNotLookBehindTheEndOfATableThatHasShrunk() throws {
    try withTable(capacityBytes: 16 << 20) { table, name throws in
      // Both of one bucket and one tag, so that a search for the second looks at the first.
      let forge = KeyForge(seed: table.segment.hashSeed)
      let keys = [0x1234_5678, 0x4321_0012_5634_5678].map { forge.key(hash: $0 & ~0xff_ffff | 0x34_5678) }
      for key in keys { try table.set(key, 1) }
      for index in 0..<8_000 { try table.set("key \(index)", [UInt8](repeating: 1, count: 1000)) }
      let end = Int(table.segment.data.loadRelaxed(DataLayout.publishedBytes))
      #expect(try table.check() == [])
      for index in 0..<8_000 { try table.remove("key \(index)") }
      repeat { try table.administration.maintain() } while try table.administration.shrink()?.isUnfinished != false
      let words = try Words("shmtable.\(name).data")
      #expect(words[DataLayout.publishedBytes] < UInt64(end) / 2)
      #expect(try table.check() == [])
      let first = words.firstBucketWord()
      #expect(words[first] >> 48 == words[first + 8] >> 48)
      words[first] = words[first] & 0xffff << 48 | UInt64(end - (64 << 10))
      let allocated = try words.object.status().allocated
      #expect(try table.check() != [])
      #expect(try words.object.status().allocated == allocated)
    }
  }

  /// It is not told to use force, which would end the same.
  @Test func whatNoRepairMendsIsToldToBeDropped() throws {
    try withTable { table, name throws in
      let ctl = try #require(table.segment.participant).state.ctl
      ctl.storeRelaxed(ControlLayout.damaged, 1)
      table.segment.data.storeRelaxed(DataLayout.committed, .max / 2)
      for isForced in [false, true] {
        let error = try #require(throws: TableError.self) { try table.repair(force: isForced) }
        #expect(error.code == .damaged)
        #expect(
          error.message
            == "damaged: its version cannot be \(UInt64.max / 2); no repair mends it: 'shmctl drop \(name)', and create it anew"
        )
      }
    }
  }
}
