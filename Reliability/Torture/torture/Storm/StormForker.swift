import Glibc
import SharedTable
import TestSupport

/// Forks, outside and inside of sections, while another of its threads reads. The child must be refused by what it
/// inherited; after a new open it takes part like anybody.
enum StormForker {
  static let role: @Sendable ([String]) throws -> Void = { arguments in
    let place = StormPlace(arguments)
    let table = try Table.open(place.name, access: .participant)
    try place.once([.timedOut, .full]) { try warmUp(table, place) }
    _ = startThread(place.seed ^ 1) { seed in
      var looker = place.looker(table, seed: seed)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
      try place.untilStopped([.timedOut]) {
        try looker.gets(50, buffer)
        usleep(200)
      }
    }
    var generator = SplitMix(seed: place.seed)
    try place.untilStopped([.timedOut, .full]) {
      switch generator.below(4) {
      case 0: try table.read { _ in try fork(place) { try refuses(table) } }
      case 1: try forkInBarrier(table, place)
      case 2: try fork(place) { try refuses(table) }
      default:
        let seed = generator.next() >> 8
        try fork(place) { try takePart(place, seed: seed) }
      }
    }
  }

  /// Does everything once that a child will do. Swift initializes much at its first use, under locks of its own: what
  /// another thread is just initializing when we fork, the child would wait for in vain.
  private static func warmUp(_ table: Table, _ place: StormPlace) throws {
    var looker = place.looker(table, seed: place.seed)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    defer { buffer.deallocate() }
    try looker.gets(50, buffer)
    try looker.section()
    var writer = StormWriter(table, place, seed: place.seed)
    for _ in 0..<20 { try writer.barrier { _, _ in } }
    try table.read { _ in
      do { try table.barrier { _ in } } catch let error as TableError where error.code == .wouldDeadlock {}
    }
  }

  /// Runs `body` in a child, waits for its end, and throws if it came to a bad one.
  private static func fork(_ place: StormPlace, _ body: () throws -> Void) throws {
    let child = cFork()
    if child == 0 {
      // It outlives a parent that is killed, but not for long: what hangs ends.
      alarm(30)
      do {
        try body()
      } catch {
        complain("a forked child: \(error)")
        _exit(1)
      }
      _exit(0)
    }
    if child < 0 { throw Broken("fork failed: \(errno)") }
    place.board.add(place.seat, .forks)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { throw Broken("a forked child ended with status \(status)") }
  }

  private static func mustRefuse(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as TableError where error.code == .forked {
      return
    }
    throw Broken("a forked child was not refused by \(what) (G11)")
  }

  private static func refuses(_ table: Table) throws {
    try mustRefuse("get") { _ = try table.bytes(forKey: StormContents.accounts[0]) }
    try mustRefuse("set") { try table.set(StormContents.accounts[0], "child") }
    try mustRefuse("read") { try table.read { _ in } }
    try mustRefuse("barrier") { try table.barrier { tx in try tx.set(StormContents.accounts[0], "child") } }
    try mustRefuse("maintain") { try table.administration.maintain() }
  }

  private static func forkInBarrier(_ table: Table, _ place: StormPlace) throws {
    place.board.add(place.seat, .began)
    do {
      try table.barrier { tx in
        try tx.increment(StormContents.tally(place.seat))
        let child = cFork()
        if child == 0 {
          alarm(30)
          var isRefused = false
          do throws(TableError) { try tx.set(StormContents.accounts[0], "child") } catch {
            isRefused = error.code == .forked
          }
          _exit(isRefused ? 0 : 1)
        }
        place.board.add(place.seat, .forks)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        if child < 0 || status != 0 { throw Broken("a child forked in a barrier wrote into it, or failed") }
      }
    } catch let error as TableError {
      place.board.add(place.seat, .began, -1)
      throw error
    }
    place.board.add(place.seat, .done)
    place.board.add(place.seat, .barriers)
  }

  /// A child that opens the table again.
  private static func takePart(_ place: StormPlace, seed: UInt64) throws {
    let table = try Table.open(place.name, access: .participant)
    var looker = place.looker(table, seed: seed)
    var writer = StormWriter(table, place, seed: seed)
    for _ in 0..<5 {
      try place.once([.timedOut]) { try looker.section() }
      try writer.barrier { _, _ in }
    }
  }
}
