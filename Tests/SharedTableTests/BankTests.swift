import Dispatch
import Synchronization
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
    let wrong = Atomic(0)
    let failures = Mutex<[String]>([])
    let writersLeft = Atomic(2)
    DispatchQueue.concurrentPerform(iterations: 6) { worker in
      do {
        if worker < 2 {
          defer { writersLeft.subtract(1, ordering: .relaxed) }
          try transfer(table, seed: UInt64(worker), count: 20_000)
        } else {
          while writersLeft.load(ordering: .relaxed) > 0 {
            let sum = try worker % 2 == 0 ? sumInSection(table) : sumByScan(table)
            if sum != Self.accounts * Self.opening { wrong.add(1, ordering: .relaxed) }
          }
        }
      } catch {
        failures.withLock { $0.append("\(worker): \(error)") }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(failures.withLock { $0 } == [])
    #expect(try sumInSection(table) == Self.accounts * Self.opening)
  }

  private func transfer(_ table: Table, seed: UInt64, count: Int) throws {
    var random = SplitMix(seed: seed)
    for round in 0..<count {
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
  }

  private func sumInSection(_ table: Table) throws -> Int {
    try table.read { view in
      var sum = 0
      for account in 0..<Self.accounts { sum += try view.get("account\(account)", as: Int.self) ?? -1_000_000 }
      return sum
    }
  }

  private func sumByScan(_ table: Table) throws -> Int {
    try table.read { view in
      var sum = 0
      try view.forEach { _, entry in
        sum += entry.value(as: Int.self) ?? -1_000_000
      }
      return sum
    }
  }
}
