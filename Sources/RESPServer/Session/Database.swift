import SharedTable
import Synchronization

/// A table that clients reach by `SELECT index` or `SELECT /name`.
final class Database: Sendable {
  /// Its place in the list.
  let index: Int
  /// The table's name.
  let name: String
  /// Carries out what would have to wait, so that the event loop never does.
  let lane: Lane
  /// A client's write to a table that mirrors another store waits for that store on this lane's thread. It is another thread than
  /// `lane`'s, so that a client's read that waits for the table does not wait for the network, too. It is one thread, so that two
  /// clients of this host never change what the other's transaction depends on while that is on its way.
  let forwardingLane: Lane

  private let trusting: [UInt32]
  private let current = Mutex<Table?>(nil)
  /// Why the table could not be opened, and until when that is the answer: see ``table()``.
  private let failure = Mutex<(error: TableError, until: ContinuousClock.Instant)?>(nil)
  private let generationCount = Atomic<UInt64>(0)

  init(index: Int, _ served: ServerOptions.ServedTable) {
    self.index = index
    name = served.name
    trusting = served.owner.map { [$0] } ?? []
    lane = Lane()
    forwardingLane = Lane()
  }

  /// Grows when the table is let go: sessions look at it before they use the handle that they know.
  var generation: UInt64 { generationCount.load(ordering: .acquiring) }

  /// How long opening may wait for who makes the table at the moment. The event loop waits meanwhile.
  private static let patience = Duration.milliseconds(100)
  /// One that is stopped while it makes the table holds up the event loop by a tenth of the time, whatever clients ask.
  private static let pauseAfterWait = Duration.seconds(1)

  /// The table, opened if it is not open.
  func table() throws(TableError) -> Table {
    if let table = current.withLock({ $0 }) { return table }
    if let failure = failure.withLock({ $0 }), ContinuousClock.now < failure.until { throw failure.error }
    let opened = try open()
    return current.withLock { table in
      if table == nil { table = opened }
      return table!
    }
  }

  private func open() throws(TableError) -> Table {
    let begin = ContinuousClock.now
    do throws(TableError) {
      return try Table.open(name, trusting: .users(trusting), timeout: Self.patience)
    } catch {
      let now = ContinuousClock.now
      if now - begin >= Self.patience { failure.withLock { $0 = (error, now + Self.pauseAfterWait) } }
      throw error
    }
  }

  /// Lets go of a table whose name leads to another one, or to none.
  /// - Returns: whether it did.
  @discardableResult
  func refresh() -> Bool {
    current.withLock { table in
      guard let open = table, !open.administration.isNamed else { return false }
      table = nil
      generationCount.add(1, ordering: .releasing)
      return true
    }
  }

  func stop() {
    lane.stop()
    forwardingLane.stop()
  }
}
