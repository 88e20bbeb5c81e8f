import Glibc
import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// G7 and G9: memory is bounded, full is an error, and space comes back.
@Suite struct SpaceTests {
  @Test(arguments: Setting.all) func aFullTableIsAnErrorThatChangesNothing(_ setting: Setting) throws {
    try setting.with(capacityBytes: 1 << 20) { table, reader throws in
      let value = [UInt8](repeating: 7, count: 1000)
      var stored = 0
      while stored < 5000, code({ try table.set("k\(stored)", value) }) == nil { stored += 1 }
      #expect(stored > 500 && stored < 1100, "\(stored) values of 1,000 bytes in 1 MiB")
      #expect(try table.check() == [])
      #expect(code { try table.set("one more", value) } == .full)
      #expect(reader.count == stored)
      #expect(try !reader.contains("one more"))
      for index in 0..<stored { #expect(try reader.get("k\(index)") == value) }
    }
  }

  @Test(arguments: Setting.all) func spaceComesBackAfterDeletes(_ setting: Setting) throws {
    try setting.with(capacityBytes: 1 << 20) { table, reader throws in
      for round in 0..<4 {
        let value = [UInt8](repeating: UInt8(round), count: 300 << round)
        var stored = 0
        while code({ try table.set("k\(stored)", value) }) == nil { stored += 1 }
        #expect(stored * value.count > 600 << 10, "round \(round): only \(stored) values of \(value.count) bytes")
        for index in 0..<stored { #expect(try table.remove("k\(index)")) }
        #expect(reader.count == 0)
        #expect(try table.check() == [])
      }
    }
  }

  /// There is room for the tombstones of a few of the longest keys. What a sweep has removed when that is used up stands, and gives the next one
  /// room.
  @Test(arguments: Table.Variant.allCases) func expiredKeysOfAFullTableAreRemovedSomeAtATime(
    _ variant: Table.Variant
  ) throws {
    let clock = TestClock()
    try withTable(variant, capacityBytes: 1 << 20, clock: clock) { table throws in
      func key(_ index: Int) -> [UInt8] { [UInt8](repeating: UInt8(index), count: 30_000) }
      var stored = 0
      while code({ try table.set(key(stored), 1, expires: .after(.seconds(1))) }) == nil { stored += 1 }
      #expect(stored > 10)
      clock.advance(1)
      var removed: [Int] = []
      while table.count > 0, removed.count < stored { removed.append(try table.administration.sweepExpired()) }
      #expect(removed.reduce(0, +) == stored && !removed.contains(0))
      if variant == .rcu { #expect(removed.count > 1, "they all had room at once") }
      try table.set(key(0), 2)
    }
  }

  @Test(arguments: Setting.all) func aBarrierThatFillsTheTableIsUndoneWhole(_ setting: Setting) throws {
    try setting.with(capacityBytes: 1 << 20) { table, reader throws in
      try table.set("k", "old")
      let value = [UInt8](repeating: 7, count: 5000)
      for _ in 0..<3 {
        let refused = code {
          try table.barrier { tx throws in
            try tx.set("k", "new")
            for index in 0..<1000 { try tx.set("k\(index)", value) }
          }
        }
        #expect(refused == .full)
        #expect(try reader.get("k") == "old")
        #expect(reader.count == 1)
      }
      for index in 0..<100 { try table.set("k\(index)", value) }
    }
  }

  @Test(arguments: Setting.all) func theLongestValueCanBeOverwrittenForEver(_ setting: Setting) throws {
    try setting.with(capacityBytes: 4 << 20) { table, reader throws in
      for round in 0..<20 {
        let value = [UInt8](repeating: UInt8(round), count: 1 << 20)
        try table.set("k", value)
        #expect(try reader.get("k") == value)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func overwritingForEverNeedsNoMoreRoom(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 2 << 20) { table throws in
      for round in 0..<20_000 { try table.set("k\(round % 50)", "value number \(round)") }
      #expect(table.count == 50)
      try table.administration.maintain()
    }
  }

  // MARK: - G7

  /// Makes more garbage than the budget: what a snapshot taken before shows is overwritten once.
  private func overwriteALot(_ table: Table, _ value: UInt8) throws {
    for index in 0..<500 { try table.set("pad\(index)", [UInt8](repeating: value, count: 1000)) }
  }

  @Test func pastTheBudgetTheSnapshotIsTooOldAndWritersGoOn() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10) { table throws in
      try table.set("k", "old")
      try overwriteALot(table, 1)
      let snapshot = try table.snapshot()
      #expect(try snapshot.get("k") == "old")
      try overwriteALot(table, 2)
      #expect(code { _ = try snapshot.get("k", as: String.self) } == .snapshotTooOld)
      #expect(try table.get("k") == "old")
      let next = try table.snapshot()
      #expect(try next.get("k") == "old")
    }
  }

  @Test func pastTheBudgetAnotherProcessSnapshotIsTooOldToo() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10) { table throws in
      try table.set("k", "old")
      try overwriteALot(table, 1)
      let holder = try worker(table)
      _ = try holder.ask("snapshot")
      try holder.ask("snapshot-get k", expecting: "old")
      try overwriteALot(table, 2)
      try holder.ask("snapshot-get k", expecting: "error snapshotTooOld")
    }
  }

  @Test func aZeroCopySectionIsNeverEvictedWritesAreRefusedNamingItsHolder() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10) { table throws in
      try table.set("k", "old")
      try table.set("gone", "old")
      let reader = try worker(table)
      _ = try reader.ask("read")
      try table.remove("gone")
      var refused: TableError?
      for round in 0..<2000 where refused == nil {
        refused = error { try table.set("k\(round % 10)", [UInt8](repeating: 1, count: 1000)) }
      }
      #expect(refused?.code == .full)
      #expect(refused?.holder?.pid == reader.pid)
      try reader.ask("get k", expecting: "old")
      try reader.ask("get k1", expecting: "nil")
      try reader.ask("get gone", expecting: "old")
      try reader.ask("end", expecting: "ok")
      try table.set("k", "new")
    }
  }

  @Test func thePolicyToRefuseNamesTheSnapshotsHolderAndKeepsTheSnapshot() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, policy: .refuse) { table throws in
      try table.set("k", "old")
      let holder = try worker(table)
      _ = try holder.ask("snapshot")
      var refused: TableError?
      for round in 0..<2000 where refused == nil {
        refused = error { try table.set("k\(round % 10)", [UInt8](repeating: 1, count: 1000)) }
      }
      // Overwritten many times between two versions, only the oldest is kept: ten values of 1,000 bytes are not
      // enough to pass the budget.
      #expect(refused == nil)
      for round in 0..<2000 where refused == nil {
        refused = error { try table.barrier { tx in try tx.set("n\(round)", [UInt8](repeating: 1, count: 1000)) } }
      }
      #expect(refused == nil, "new keys are no garbage")
      _ = try holder.ask("snapshot")
      for round in 0..<2000 where refused == nil {
        refused = error { try table.set("n\(round)", [UInt8](repeating: 2, count: 1000)) }
      }
      #expect(refused?.code == .full)
      #expect(refused?.holder?.pid == holder.pid)
      try holder.ask("snapshot-get k", expecting: "old")
      try holder.killAndWait()
      try table.set("k", "new")
    }
  }

  @Test func thePolicyToWaitWaitsAndHoldsNobodyUpMeanwhile() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, policy: .wait) { table throws in
      try overwriteALot(table, 1)
      let reader = try worker(table)
      _ = try reader.ask("read")
      var refused: TableError?
      for round in 0..<2000 where refused == nil {
        refused = error {
          try table.set("k\(round % 10)", [UInt8](repeating: 1, count: 1000), timeout: .milliseconds(20))
        }
      }
      #expect(refused?.code == .full)
      #expect(refused?.holder?.pid == reader.pid)
      // Two writers wait side by side: the one with less patience is told of the reader, not of the other writer.
      let writer = try worker(table)
      try writer.send("set k waited")
      var again: TableError?
      // It may be the other writer that is waited for, while that one looks.
      func isToldOfIt() -> Bool { again != nil && again?.code != .timedOut }
      goOn(until: isToldOfIt) { again = error { try table.set("k", "hasty", timeout: .milliseconds(50)) } }
      #expect(again?.code == .full)
      #expect(again?.holder?.pid == reader.pid)
      try reader.ask("end", expecting: "ok")
      #expect(try writer.readLine() == "ok")
      #expect(try table.get("k") == "waited")
    }
  }

  /// A thread that lost its processor in a read is no stalled reader: whatever the policy says, writers wait until it goes on.
  @Test func aWriterWaitsForAReaderThatHasJustBegun() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 256 << 10, policy: .refuse) { table throws in
      let isOver = Atomic(false)
      let reader = TestThread {
        while !isOver.load(ordering: .relaxed) {
          try table.read { _ in
            // No further write begins until this section ends.
            while table.statistics.limboBytes! <= 256 << 10, !isOver.load(ordering: .relaxed) { sched_yield() }
          }
        }
      }
      defer { reader.joinQuietly() }
      defer { isOver.store(true, ordering: .relaxed) }
      for round in 0..<2000 {
        while let refused = error({ try table.set("k\(round % 10)", [UInt8](repeating: 1, count: 1000)) }) {
          // On a machine that kept the reader's thread waiting for that long, it was stalled.
          try #require(refused.holder?.heldNanoseconds ?? 0 >= 200_000_000, "\(refused)")
        }
      }
    }
  }

  /// The policy counts that holds once the writer has its turn, not the one from when it began to wait for that.
  @Test func whoWaitsForItsTurnKeepsToThePolicyOfThen() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 4 << 20, policy: .refuse) { table throws in
      let control = table.segment.controlMemory!
      try overwriteALot(table, 1)
      let reader = try worker(table)
      _ = try reader.ask("read")
      try overwriteALot(table, 2)
      control.storeRelaxed(ControlLayout.limboBudget, 1)
      #expect(code { try table.set("k", "refused") } == .full, "the reader counts as stalled")
      control.storeRelaxed(ControlLayout.limboBudget, 4 << 20)
      let writer = try worker(table)
      try table.barrier { _ in
        try writer.send("set k waited")
        while control.loadRelaxed(ControlLayout.foremostWaiter) == 0 { sched_yield() }
        control.storeRelaxed(ControlLayout.stalledReaderPolicy, StalledReaderPolicy.wait.rawValue)
        control.storeRelaxed(ControlLayout.limboBudget, 1)
      }
      try reader.ask("end", expecting: "ok")
      #expect(try writer.readLine() == "ok")
      #expect(try table.get("k") == "waited")
    }
  }

  @Test func betweenTwoSnapshotsOnlyWhatTheySeeIsKept() throws {
    try withTable(.rcu, capacityBytes: 8 << 20, limboBudgetBytes: 4 << 20, policy: .refuse) { table throws in
      var snapshots: [(Snapshot, Int)] = []
      for round in 0..<20_000 {
        try table.set("k", round)
        try table.set("pad", [UInt8](repeating: 1, count: 2000))
        if round % 1000 == 0 { snapshots.append((try table.snapshot(), round)) }
      }
      for (snapshot, round) in snapshots { #expect(try snapshot.get("k") == round) }
      #expect(try table.check() == [])
    }
  }

  @Test func aSnapshotIsNotEvictedForWhatAnotherOneKept() throws {
    var limit = 1 << 30
    for isMeasured in [true, false] {
      try withTable(.rcu, limboBudgetBytes: limit) { table throws in
        func overwriteAll() throws {
          try table.barrier { tx in
            for index in 0..<3000 { try tx.set("k\(index)", [UInt8](repeating: 1, count: 300)) }
          }
          while try table.administration.maintain() == true {}
        }
        try overwriteAll()
        let first = try table.snapshot()
        try overwriteAll()
        var second: Snapshot? = try table.snapshot()
        try overwriteAll()
        if isMeasured { limit = table.segment.statistics.limboBytes! + 10_000 }
        #expect(try second!.read { view in try view.count() } == 3000)
        second = nil
        // Now the second snapshot's versions may go; they lie behind those of the first.
        try table.barrier { tx in
          for index in 0..<100 { try tx.set("k\(index)", [UInt8](repeating: 2, count: 300)) }
        }
        try table.set("k", 1)
        #expect(try first.read { view in try view.count() } == 3000)
      }
    }
  }

  /// Small entries, so that the rings and not the bytes are at their limit.
  @Test func manySmallVersionsUnderASnapshotNeverWedgeTheTable() throws {
    try withTable(.rcu, capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, policy: .refuse) { table throws in
      for index in 0..<30_000 {
        if code({ try table.set(key(index), [UInt8]()) }) != nil { break }
      }
      let count = table.count
      #expect(count > 10_000)
      var snapshot: Snapshot? = try table.snapshot()
      var refused: TableError.Code?
      for index in 0..<count where refused == nil { refused = code { try table.remove(key(index)) } }
      #expect(refused == .full, "tombstones need room, and the snapshot keeps what they hide")
      #expect(try snapshot!.read { view in try view.count() } == count)
      snapshot = nil
      for index in 0..<count { try table.remove(key(index)) }
      #expect(table.count == 0)
      try table.set("k", [UInt8](repeating: 1, count: 100_000))
    }
  }

  /// A table that is full, most of it of values that a snapshot keeps, far below the limbo budget.
  private func withTableFullForASnapshot(
    _ policy: Table.StalledReaderPolicy, _ body: (Table, Snapshot) throws -> Void
  ) throws {
    try withTable(.rcu, capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, policy: policy) { table throws in
      var count = 0
      while code({ try table.set(key(count), [UInt8](repeating: 1, count: 100)) }) == nil { count += 1 }
      let snapshot = try table.snapshot()
      #expect(try snapshot.read { view in try view.count() } == count)
      try body(table, snapshot)
      #expect(try table.check() == [])
    }
  }

  @Test func aFullTableEvictsTheSnapshotThatKeepsItFull() throws {
    try withTableFullForASnapshot(.evict) { table, snapshot throws in
      for index in 0..<table.count { try table.remove(key(index)) }
      #expect(table.count == 0)
      #expect(code { _ = try snapshot.get(key(1), as: [UInt8].self) } == .snapshotTooOld)
    }
  }

  @Test func aFullTableNamesTheReaderThatKeepsItFull() throws {
    try withTableFullForASnapshot(.refuse) { table, snapshot throws in
      var refused: TableError?
      for index in 0..<table.count where refused == nil { refused = error { try table.remove(key(index)) } }
      #expect(refused?.code == .full)
      #expect(refused?.holder?.pid == getpid())
      #expect(try snapshot.get(key(1)) == [UInt8](repeating: 1, count: 100))
    }
  }

  private func key(_ index: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(index)) { [UInt8]($0) } }

  @Test(arguments: Setting.all) func hugePagesBackTheTableWhereTheKernelDoesIt(_ setting: Setting) throws {
    try setting.with(capacityBytes: 16 << 20) { table, reader throws in
      for index in 0..<7000 { try table.set("k\(index)", [UInt8](repeating: UInt8(index & 255), count: 1000)) }
      #expect(table.statistics.hugeBytes == 0, "no table under 16 MiB by itself")
      let collapses = kernelCollapses()
      var bytes = 0
      let isBacked = try eventually {
        bytes = try reader.administration.backAllByHugePages()
        #expect(bytes % (2 << 20) == 0)
        // This process maps nothing else so: the kernel's count is at least ours.
        #expect(try mappedByHugePages() >= bytes)
        return !collapses || bytes >= 4 << 20
      }
      #expect(isBacked)
      if !collapses { #expect(bytes == 0) }
      try table.set("k1", [UInt8](repeating: 9, count: 1000))
      #expect(try reader.get("k1") == [UInt8](repeating: 9, count: 1000))
      #expect(try reader.get("k6999") == [UInt8](repeating: UInt8(6999 & 255), count: 1000))
      #expect(try table.check() == [])
    }
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func aLargeTableIsBackedByHugePagesAsItGrows(_ variant: Table.Variant) throws {
    let huge = 2 << 20
    let collapses = kernelCollapses()
    for wanted in [true, false] {
      let options = Table.Options(variant: variant, capacityBytes: 32 << 20, hugePages: wanted)
      try withPoisonedTable(options) { _, table in
        let value = [UInt8](repeating: 7, count: 60_000)
        var sizes = Set<Int>()
        var (claimedBefore, backedBefore) = (0, 0)
        for index in 0..<400 {
          try table.set("k\(index)", value)
          let statistics = table.statistics
          let backed = try #require(statistics.hugeBytes)
          sizes.insert(backed)
          // One write does not wait until all is backed that the table had when it became large enough.
          #expect(backed - backedBefore <= statistics.claimedBytes - claimedBefore + huge)
          (claimedBefore, backedBefore) = (statistics.claimedBytes, backed)
          // What is smaller than a huge page at the end, or than 16 MiB in all, is not. The kernel may refuse at a moment.
          let whole = statistics.claimedBytes / huge * huge
          #expect(backed % huge == 0 && backed <= (wanted && collapses && whole >= 16 << 20 ? whole : 0))
        }
        #expect(sizes.count > 2 || !wanted || !collapses)
        if wanted && collapses { #expect(try becomesBacked(table)) }
        #expect(try table.get("k0") == value && table.get("k399") == value)
        #expect(try table.check() == [])
      }
    }
  }

  /// What is given back is no longer said to be backed, and is backed again when the table grows again.
  @Test func hugePagesThatWereGivenBackAreMadeAgain() throws {
    try withPoisonedTable(Table.Options(capacityBytes: 32 << 20)) { _, table in
      let value = [UInt8](repeating: 7, count: 60_000)
      func fill() throws {
        for index in 0..<450 { try table.set("k\(index)", value) }
        if collapses { #expect(try becomesBacked(table)) }
      }
      let collapses = kernelCollapses()
      try fill()
      let backed = try #require(table.statistics.hugeBytes)
      for index in 0..<450 { try table.remove("k\(index)") }
      try table.administration.maintain()
      while try table.administration.shrink()?.isUnfinished == true {}
      #expect(table.statistics.claimedBytes < 8 << 20)
      #expect(try #require(table.statistics.hugeBytes) <= table.statistics.claimedBytes)
      try fill()
      #expect(table.statistics.hugeBytes == backed)
      #expect(try table.administration.backGrowthByHugePages() == 0, "there is nothing left to do")
      #expect(try table.check() == [])
    }
  }
}

/// Whether all whole huge pages of the table become backed. The kernel may refuse at a moment, as where a page is in use by the
/// kernel itself (madvise(2), EAGAIN): it is asked again, as shmd does in its idle moments.
private func becomesBacked(_ table: Table) throws -> Bool {
  try eventually {
    let statistics = table.statistics
    if statistics.hugeBytes == statistics.claimedBytes / (2 << 20) * (2 << 20) { return true }
    try table.administration.backGrowthByHugePages()
    return false
  }
}

/// Does madvise(2) know MADV_COLLAPSE (25) and find a huge page? Tried on memory of our own.
private func kernelCollapses() -> Bool {
  let huge = 2 << 20
  let place = mmap(nil, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  defer { munmap(place, 2 * huge) }
  let aligned = UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: place) + UInt(huge) - 1) & ~UInt(huge - 1))!
  memset(aligned, 1, huge)
  return madvise(aligned, huge, 25) == 0
}

/// Sum of `ShmemPmdMapped` in /proc/self/smaps (proc(5)), in bytes.
private func mappedByHugePages() throws -> Int {
  let file = try #require(fopen("/proc/self/smaps", "r"))
  defer { fclose(file) }
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  defer { free(line) }
  var kilobytes = 0
  while getline(&line, &capacity, file) >= 0 {
    let words = String(cString: line!).split(whereSeparator: \.isWhitespace)
    if words.first == "ShmemPmdMapped:" { kilobytes += Int(words[1]) ?? 0 }
  }
  return kilobytes << 10
}
