import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// Where a process of a storm finds everything: `TABLE BOARD SEATS WRITERS SEAT SEED` on its command line.
struct StormPlace: Sendable {
  let name: String
  let board: StormBoard
  let seat: Int
  let writers: Range<Int>
  let seed: UInt64

  init(_ arguments: [String]) {
    name = arguments[0]
    board = StormBoard(path: arguments[1], seats: Int(arguments[2])!)
    writers = 0..<Int(arguments[3])!
    seat = Int(arguments[4])!
    seed = UInt64(arguments[5])!
  }

  func looker(_ table: Table, seed: UInt64) -> StormLooker {
    StormLooker(table: table, board: board, seat: seat, writers: writers, generator: SplitMix(seed: seed))
  }

  /// Runs `body` until the storm is over. What others made impossible is counted; anything else ends the process.
  func untilStopped(_ refusals: Set<TableError.Code>, _ body: () throws -> Void) throws {
    while board[.stop] == 0 {
      try once(refusals, body)
      board.add(seat, .beats)
    }
  }

  func once(_ refusals: Set<TableError.Code>, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as TableError where refusals.contains(error.code) {
      board.add(seat, .refusals)
    }
  }

  /// Two threads at a time, each of which ends after a while and is followed by another.
  func withChangingThreads(_ life: @escaping @Sendable (UInt64) throws -> Void) {
    var generator = SplitMix(seed: seed)
    var threads: [pthread_t] = []
    while board[.stop] == 0 {
      threads.append(startThread(generator.next() >> 8, life))
      if threads.count == 2 { pthread_join(threads.removeFirst(), nil) }
    }
    for thread in threads { pthread_join(thread, nil) }
  }
}

/// Starts a thread that plays its part; what it throws ends the process at once.
func startThread(_ seed: UInt64, _ life: @escaping @Sendable (UInt64) throws -> Void) -> pthread_t {
  startThread {
    do {
      try life(seed)
    } catch {
      complain("\(error)")
      _exit(1)
    }
  }
}

enum StormRoles {
  /// Sections, single reads and long snapshots of a participant.
  static let reader: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    // In the RCU variant nothing that others do may make a read fail.
    let refusals: Set<TableError.Code> = table.variant == .rcu ? [] : [.timedOut]
    place.withChangingThreads { seed in
      var looker = place.looker(table, seed: seed)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
      defer { buffer.deallocate() }
      var held: HeldSnapshot?
      for _ in 0..<(50 + looker.generator.below(400)) where place.board[.stop] == 0 {
        try place.once(refusals) {
          switch looker.generator.below(20) {
          case ..<11: try looker.gets(20, buffer)
          case ..<19: try looker.section()
          default: try HeldSnapshot.step(&held, &looker)
          }
        }
        place.board.add(place.seat, .beats)
      }
    }
  }

  /// The same sections, by somebody who may only look. It starts over where gc or a barrier overtook it.
  static let observer: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .observer)
    var looker = place.looker(table, seed: place.seed)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    try place.untilStopped([.busy, .snapshotTooOld]) {
      try looker.section()
      try looker.gets(5, buffer)
    }
  }

  static let daemon: @Sendable ([String]) throws -> Void = { arguments in
    try keep(arguments, pause: 3000) { _ in }
  }

  /// What shmd's keeper does in a round, by the same calls of the library, and then `more`.
  /// - Parameter pause: between two rounds, in microseconds.
  static func keep(_ arguments: [String], pause: UInt32, _ more: (Table) throws -> Void) throws {
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    var sweep = Table.ExpirySweep()
    try place.untilStopped([.timedOut, .full]) {
      _ = try table.administration.clearDeadReaders()
      _ = try table.administration.maintain(passes: 4)
      _ = try table.administration.sweepExpired(&sweep, timeout: .milliseconds(10))
      if sweep.isAtEnd { sweep = Table.ExpirySweep() }
      try more(table)
      usleep(pause)
    }
  }

  /// Nobody ever signals this one. It reads, and says how much it got done and for how much of a processor.
  static let untouched: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    let refusals: Set<TableError.Code> = table.variant == .rcu ? [] : [.timedOut]
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    var generator = SplitMix(seed: place.seed)
    var last: UInt64 = 0
    try place.untilStopped(refusals) {
      for _ in 0..<8 {
        for _ in 0..<64 {
          try StormLooker.get(table, StormContents.accounts[generator.below(StormContents.accounts.count)], buffer)
        }
        try table.read { view in
          if view.version < last { throw Broken("its section went back from version \(last) to \(view.version)") }
          last = view.version
          try StormLooker.checkBank(view)
        }
      }
      place.board.add(place.seat, .sections, 8)
      place.board.add(place.seat, .reads, 8 * (64 + StormContents.accounts.count))
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      place.board.set(place.seat, .processorTime, UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
  }

  /// A barrier with half of its changes made, for as long as somebody likes.
  static let holder: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    try table.barrier { tx in
      for key in StormContents.accounts.prefix(32) { try tx.set(key, StormContents.account(balance: 0, salt: 1)) }
      for number in 0..<500 { try tx.set(StormContents.churned(number), StormContents.churnValue(number, salt: 1)) }
      say("in")
      while readLine() != nil {}
      throw Broken("nobody asked it to end")
    }
  }
}

/// A long snapshot that a thread holds for a while: it must go on showing what it showed first.
struct HeldSnapshot {
  private let snapshot: Snapshot
  private let tallies: [UInt64]
  private let deadline: UInt64

  /// Takes one, or looks into the one that is held, or lets it go.
  static func step(_ held: inout HeldSnapshot?, _ looker: inout StormLooker) throws {
    guard looker.table.variant == .rcu else { return try looker.section() }
    do {
      if let known = held {
        try known.look(looker)
        if HostClock.monotonicNanoseconds > known.deadline { held = nil }
      } else {
        let newest = looker.board[.newest]
        let snapshot = try looker.table.snapshot()
        if snapshot.version < newest { throw Broken("a snapshot of version \(snapshot.version), after \(newest) (G4)") }
        let tallies = try snapshot.read { view in try looker.tallies(view) }
        let patience = UInt64(looker.generator.below(200_000_000))
        held = HeldSnapshot(
          snapshot: snapshot, tallies: tallies, deadline: HostClock.monotonicNanoseconds + patience)
      }
      looker.board.add(looker.seat, .snapshots)
    } catch let error as TableError where error.code == .snapshotTooOld {
      // Evicted: writers needed the memory. Never wrong data (G7).
      held = nil
      looker.board.add(looker.seat, .refusals)
    }
  }

  private func look(_ looker: StormLooker) throws {
    try snapshot.read { view in
      if view.version != snapshot.version { throw Broken("a snapshot changed its version") }
      try StormLooker.checkBank(view)
      guard try looker.tallies(view) == tallies else { throw Broken("a snapshot's tallies changed (G1)") }
      for group in StormContents.groups { try StormLooker.checkGroup(view, group) }
    }
  }
}
