import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// Writes of all sizes by one thread: transfers, groups, keys that come and go, leases; some undone on purpose.
struct StormWriter {
  private let table: Table
  private let place: StormPlace
  private var generator: SplitMix

  /// What others made impossible: a stopped barrier before us, a stopped reader that keeps the memory.
  static let refusals: Set<TableError.Code> = [.timedOut, .full]

  private struct Abort: Error {}

  static let role: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    place.withChangingThreads { seed in
      var writer = StormWriter(table, place, seed: seed)
      for _ in 0..<(50 + writer.generator.below(400)) where place.board[.stop] == 0 {
        try writer.step()
        place.board.add(place.seat, .beats)
      }
    }
  }

  init(_ table: Table, _ place: StormPlace, seed: UInt64) {
    self.table = table
    self.place = place
    generator = SplitMix(seed: seed)
  }

  private mutating func step() throws {
    switch generator.below(100) {
    case ..<55: try barrier { writer, tx in try writer.transfer(&tx) }
    case ..<65: try barrier { writer, tx in try writer.writeGroup(&tx) }
    case ..<85: try barrier { [count = 1 + generator.below(30)] writer, tx in try writer.churn(&tx, count) }
    case ..<90: try barrier { writer, tx in try writer.lease(&tx) }
    case ..<99: try single()
    default:
      if generator.below(4) == 0 { try barrier { writer, tx in try writer.churn(&tx, 1500) } }
    }
  }

  /// One barrier, counted in the table and on the board; one in eight throws at its end.
  mutating func barrier(_ body: (inout StormWriter, inout Transaction) throws -> Void) throws {
    let aborts = generator.below(8) == 0
    let lingers = generator.below(40) == 0
    let (board, seat) = (place.board, place.seat)
    if !aborts { board.add(seat, .began) }
    do {
      try table.barrier { tx in
        board.add(seat, .inside)
        defer { board.add(seat, .inside, -1) }
        if !aborts { try tx.increment(StormContents.tally(seat)) }
        try body(&self, &tx)
        // Half done, for whoever wants to kill or stop us just here.
        if lingers { usleep(UInt32(generator.below(2000))) }
        if aborts { throw Abort() }
      }
      board.add(seat, .done)
    } catch is Abort {
    } catch let error as TableError where Self.refusals.contains(error.code) {
      if !aborts { board.add(seat, .began, -1) }
      board.add(seat, .refusals)
    }
    board.add(seat, .barriers)
  }

  private mutating func salt() -> UInt64 { generator.next() >> 30 }

  private mutating func transfer(_ tx: inout Transaction) throws {
    for _ in 0...generator.below(3) {
      let amount = generator.below(50)
      try add(-amount, to: StormContents.accounts[generator.below(StormContents.accounts.count)], &tx)
      let key = StormContents.accounts[generator.below(StormContents.accounts.count)]
      if generator.below(6) == 0 {
        // Gone for a moment that nobody may see.
        let balance = try balance(key, tx)
        try tx.remove(key)
        try tx.set(key, StormContents.account(balance: balance, salt: salt()))
      }
      try add(amount, to: key, &tx)
    }
  }

  private func balance(_ key: String, _ tx: borrowing Transaction) throws -> Int {
    guard let entry = try tx.entry(forKey: key) else { throw Broken("\(key) is absent in a barrier (G2)") }
    return try entry.bytes.withUnsafeBytes { try StormContents.balance($0, key) }
  }

  private mutating func add(_ amount: Int, to key: String, _ tx: inout Transaction) throws {
    try tx.set(key, StormContents.account(balance: balance(key, tx) + amount, salt: salt()))
  }

  private mutating func writeGroup(_ tx: inout Transaction) throws {
    let id = generator.next() >> 1
    for key in StormContents.groups[generator.below(StormContents.groups.count)] {
      try tx.set(key, TracedValue.bytes(id))
    }
  }

  private mutating func churn(_ tx: inout Transaction, _ count: Int) throws {
    let ceiling = Int(place.board[.ceiling])
    for _ in 0..<count {
      let number = generator.below(ceiling)
      if generator.below(3) == 0 {
        try tx.remove(StormContents.churned(number))
      } else {
        try tx.set(StormContents.churned(number), StormContents.churnValue(number, salt: salt()))
      }
    }
  }

  private mutating func lease(_ tx: inout Transaction) throws {
    for _ in 0..<4 {
      let expiry = tx.now + 1_000_000 + UInt64(generator.below(30_000_000))
      try tx.set(
        StormContents.leases[generator.below(StormContents.leases.count)], TracedValue.bytes(expiry),
        expires: .at(nanosecondsSince1970: expiry))
    }
  }

  /// Calls that are a barrier of their own.
  private mutating func single() throws {
    let number = generator.below(Int(place.board[.ceiling]))
    let key = StormContents.churned(number)
    try place.once(Self.refusals) {
      switch generator.below(4) {
      case 0: try table.remove(key)
      case 1:
        if let entry = try table.entry(forKey: key) {
          _ = try table.set(key, StormContents.churnValue(number, salt: salt()), if: .version(entry.version))
        }
      case 2: try table.set(key, StormContents.churnValue(number, salt: salt()), if: .absent)
      default: try table.set(key, StormContents.churnValue(number, salt: salt()))
      }
    }
    place.board.add(place.seat, .barriers)
  }
}
