import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// The bank: transfers between accounts keep the sum; whoever sees another sum has seen a part of a write (G1, G2).
@Suite struct BankTests {
  static let accounts = 64
  static let opening = 1000

  @Test(arguments: Table.Variant.allCases)
  func everySectionSeesTheWholeOfEveryTransfer(variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant, capacityBytes: 16 << 20)
    try table.barrier { tx in
      for account in 0..<Self.accounts { try tx.set("account\(account)", Self.opening) }
    }
    let isOver = Atomic(false)
    let wrong = Counter()
    // How many versions each reader has seen while the writers were at work.
    let seen = (0..<4).map { _ in Counter() }
    let readers = (0..<4).map { reader in
      TestThread {
        var last: UInt64 = 0
        while !isOver.load(ordering: .acquiring) {
          let (sum, version) = try reader % 2 == 0 ? sumInSection(table) : sumByScan(table)
          if sum != Self.accounts * Self.opening { wrong.increment() }
          if version != last { seen[reader].increment() }
          last = version
        }
      }
    }
    defer { isOver.store(true, ordering: .releasing) }
    let writers = (0..<2).map { writer in
      TestThread {
        var (random, round) = (SplitMix(seed: UInt64(writer)), 0)
        try goOn(until: { round >= 2000 && seen.allSatisfy { $0.value > 20 } }) {
          try transfer(table, &random, round)
          round += 1
        }
      }
    }
    for writer in writers { try writer.join() }
    isOver.store(true, ordering: .releasing)
    for reader in readers { try reader.join() }
    #expect(wrong.value == 0)
    #expect(seen.allSatisfy { $0.value > 20 }, "\(seen.map(\.value))")
    #expect(try sumInSection(table).sum == Self.accounts * Self.opening)
  }

  private func transfer(_ table: Table, _ random: inout SplitMix, _ round: Int) throws {
    let (from, to, amount) = (random.below(Self.accounts), random.below(Self.accounts), random.below(100))
    do {
      try table.barrier { tx in
        try tx.increment("account\(from)", by: -amount)
        if round % 7 == 0 { throw CancellationError() }
        // The key is gone for a moment that nobody may see.
        if round % 5 == 0, let value = try tx.get("account\(to)", as: Int.self) {
          try tx.remove("account\(to)")
          try tx.set("account\(to)", value)
        }
        try tx.increment("account\(to)", by: amount)
      }
    } catch is CancellationError {}
  }

  private func sumInSection(_ table: Table) throws -> (sum: Int, version: UInt64) {
    try table.read { view in
      var sum = 0
      for account in 0..<Self.accounts { sum += try view.get("account\(account)", as: Int.self) ?? -1_000_000 }
      return (sum, view.version)
    }
  }

  private func sumByScan(_ table: Table) throws -> (sum: Int, version: UInt64) {
    try table.read { view in
      var sum = 0
      try view.forEach { _, entry in
        sum += entry.value(as: Int.self) ?? -1_000_000
      }
      return (sum, view.version)
    }
  }
}
