import Glibc
import SharedMemory
import SharedTable
import TestSupport

enum SoakRoles {
  /// Stores, overwrites and removes keys; every third value expires within some seconds.
  static let writer: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    place.withChangingThreads { seed in
      var generator = SplitMix(seed: seed)
      for _ in 0..<(50 + generator.below(400)) where place.board[.stop] == 0 {
        try place.once(StormWriter.refusals) { try write(table, place.board, &generator) }
        place.board.add(place.seat, .barriers)
        place.board.add(place.seat, .beats)
      }
    }
  }

  private static func write(_ table: Table, _ board: StormBoard, _ generator: inout SplitMix) throws {
    let drift = board[.ceiling]
    var random = generator
    defer { generator = random }
    try table.barrier { tx in
      for _ in 0...random.below(12) {
        let number = random.below(SoakContents.keyCount)
        let key = SoakContents.key(number)
        if random.below(8) == 0 {
          try tx.remove(key)
          continue
        }
        let value = SoakContents.value(number, salt: random.next(), drift: drift, spread: random.below(100))
        if random.below(3) == 0 {
          try tx.set(
            key, value,
            expires: .at(nanosecondsSince1970: tx.now + 1_000_000_000 + UInt64(random.below(4_000)) * 1_000_000))
        } else {
          try tx.set(key, value)
        }
      }
    }
  }

  /// Reads in sections and, where there are versions, in snapshots that it holds for up to a second.
  static let reader: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    place.withChangingThreads { seed in
      var generator = SplitMix(seed: seed)
      for _ in 0..<20 where place.board[.stop] == 0 {
        try place.once([.timedOut, .snapshotTooOld]) { try look(table, place, &generator) }
        place.board.add(place.seat, .beats)
      }
    }
  }

  private static func look(_ table: Table, _ place: StormPlace, _ generator: inout SplitMix) throws {
    let numbers = (0..<200).map { _ in generator.below(SoakContents.keyCount) }
    guard table.variant == .rcu, generator.below(2) == 0 else { return try table.read { try look($0, numbers) } }
    let snapshot = try table.snapshot()
    let end = HostClock.monotonicNanoseconds + UInt64(generator.below(1_000)) * 1_000_000
    repeat {
      try snapshot.read { try look($0, numbers) }
      place.board.add(place.seat, .snapshots)
      place.board.add(place.seat, .beats)
      usleep(20_000)
    } while HostClock.monotonicNanoseconds < end && place.board[.stop] == 0
  }

  private static func look(_ view: borrowing ReadView, _ numbers: [Int]) throws {
    for number in numbers {
      guard let value = try view.bytes(forKey: SoakContents.key(number)) else { continue }
      try value.withUnsafeBytes { try SoakContents.check(number, $0) }
    }
  }

  /// What shmd does for a table, memory included. Lives from the beginning to the end.
  static let keeper: @Sendable ([String]) throws -> Void = { arguments in
    try StormRoles.keep(arguments, pause: 20_000) { table in
      _ = try table.administration.shrink()
      _ = try table.administration.backGrowthByHugePages()
    }
  }
}
