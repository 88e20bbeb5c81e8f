import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

// Glibc's module hides it, as all of _GNU_SOURCE.
@_silgen_name("memmem") private func cMemmem(
  _ text: UnsafeRawPointer, _ count: Int, _ wanted: UnsafeRawPointer, _ wantedCount: Int
) -> UnsafeRawPointer?

/// Contention can be seen: figures of waits, and probes for tracers.
@Suite struct ContentionTests {
  @Test(arguments: Table.Variant.allCases)
  func aDeadThreadIsNotShownAsTheWriter(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      #expect(table.statistics.writer?.pid == holder.pid)
      try holder.killAndWait()
      #expect(table.statistics.writer == nil)
      try table.set("key", 1)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func waitsForTheWriterLockAreCountedByTheirLength(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let before = table.statistics.barrierWaits!
      #expect(before.byLogarithm.allSatisfy { $0 == 0 })
      for round in 0..<10 { try table.set("key", round) }
      var now = table.statistics.barrierWaits!
      #expect(now.none == before.none + 10 && now.byLogarithm == before.byLogarithm)

      let holder = try worker(table)
      for round in 1...3 as ClosedRange<UInt64> {
        try holder.ask("barrier", expecting: "in")
        let waiting = TestThread {
          try table.set("key", 1)
          return true
        }
        // It spins for some microseconds before.
        waiting.waitUntilAsleep()
        try holder.ask("commit", expecting: "ok")
        #expect(try waiting.join())
        now = table.statistics.barrierWaits!
        #expect(now.byLogarithm.reduce(0, +) == round)
        // Who has slept has waited longer than a microsecond.
        #expect(now.byLogarithm[..<10].allSatisfy { $0 == 0 })
      }
      // The holder itself found nobody in its way, once a round.
      #expect(now.none == before.none + 10 + 3)

      // In vain: an error, and no figure.
      try holder.ask("barrier", expecting: "in")
      #expect(code { try table.barrier(timeout: .milliseconds(5)) { _ in } } == .timedOut)
      try holder.ask("commit", expecting: "ok")
      #expect(table.statistics.barrierWaits!.byLogarithm == now.byLogarithm)
      try holder.finish()
      #expect(try Table.open(table.name, access: .observer).statistics.barrierWaits == nil)
    }
  }

  /// The notes that tracers look for, each with a name and its arguments, and a nop at each place.
  @Test func aProgramsProbesAreNotedInItsFile() throws {
    let file = fopen(WorkerProcess.productDirectory + "/table-worker", "r")!
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    #expect(fread(&bytes, 1, bytes.count, file) == bytes.count)
    for (name, count) in [
      ("barrier__wait", 1), ("barrier__entry", 2), ("barrier__exit", 3), ("read__entry", 2), ("read__exit", 1),
    ] {
      let wanted = Array("sharedtable\0\(name)\0".utf8)
      let place = bytes.withUnsafeBytes { all -> Int? in
        wanted.withUnsafeBytes { wanted in
          cMemmem(all.baseAddress!, all.count, wanted.baseAddress!, wanted.count).map { $0 - all.baseAddress! }
        }
      }
      guard let place else {
        Issue.record("no probe \(name)")
        continue
      }
      let arguments = bytes[(place + wanted.count)...].prefix { $0 != 0 }.split(separator: 0x20)
      #expect(arguments.count == count && arguments.allSatisfy { $0.starts(with: Array("8@".utf8)) })
    }
  }
}
