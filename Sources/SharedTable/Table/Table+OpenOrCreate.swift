import CShims
import TableEngine

extension Table {
  /// Opens a table, or makes it if there is none: for processes of which any may come first.
  ///
  /// However many call it at once, they get the same table: one makes it, the others wait until it is made. Options describe
  /// a table to be made. One that is there is opened as it is, whatever its variant, capacity, rights and policies: look
  /// at ``variant``, ``capacityBytes``, ``Administration/limits()`` and ``Administration/rights()`` if they matter, and at
  /// ``isObserver``, since a table of somebody else's may be one to observe only. Who makes it takes part. What a creator or a
  /// dropper that died left under the name is replaced, as by ``create(_:_:timeout:clock:)``.
  ///
  /// Blocks while another process is making or dropping the table.
  /// - Parameters:
  ///   - name: 1 to 200 letters, digits and `. _ - @ : +`, not starting with a dot.
  ///   - options: capacity, variant, rights and policies of a table to be made; not looked at if there is one.
  ///   - trusting: for a table that is there, as in ``open(_:access:variant:trusting:timeout:clock:)``.
  ///   - timeout: for that wait, and what a wait lasts at most where a later call does not say.
  ///   - clock: by which expiry is judged, in nanoseconds since 1970; for tests.
  /// - Throws: `timedOut` if another process is still making or dropping it; `foreign` (the table of a user who is not
  ///   trusted), `notATable`, `incompatible`, `damaged` and `notPermitted` about what is there; `invalid` (name or options),
  ///   `full` and `notPermitted` if it cannot be made.
  public static func openOrCreate(
    _ name: String, _ options: Options = Options(), trusting: TrustedOwners = [], timeout: Duration = defaultTimeout,
    clock: (@Sendable () -> UInt64)? = nil
  ) throws(TableError) -> Table {
    try check(name)
    let clock = ExpiryClock(clock)
    let deadline = Deadline(timeout)
    var search = Search()
    while true {
      let refusal: TableError
      do throws(TableError) {
        return Table(try attach(name, .automatic, trusting, deadline.leftNanoseconds), timeout: timeout, clock: clock)
      } catch {
        refusal = error
      }
      guard search.goesOn(after: refusal.code) else { throw refusal }
      do throws(TableError) {
        return Table(try make(name, options, trusting: trusting), timeout: timeout, clock: clock)
      } catch {
        // Another was faster, or has not finished dropping the one before.
        guard error.code == .exists else { throw error }
      }
      guard !deadline.isPast else { throw refusal.code == .noSuchTable ? unfinished(name) : refusal }
      shmos_sleep(Search.pauseNanoseconds)
    }
  }

  private static func unfinished(_ name: String) -> TableError {
    TableError(
      .timedOut, table: name,
      "timed out waiting for the process that makes or drops it; try again, allow more time, or 'shmctl drop \(name)'")
  }
}

/// Which refusals to open a table may be over at the next look.
private struct Search {
  private var looks = 0
  private var sawNone = false

  static var pauseNanoseconds: UInt64 { 1_000_000 }

  mutating func goesOn(after code: TableError.Code) -> Bool {
    looks += 1
    switch code {
    // None to open and yet one for `create` is what a dropper leaves between its two unlinks, and another user's creator
    // between its two objects.
    case .noSuchTable:
      sawNone = true
      return true
    // Another user's table keeps its rights to itself until it is made. One that was there already did not just begin.
    case .notPermitted: return sawNone
    // Who meets one object of the table before and one of the next takes them for this. Not many times in a row: then
    // it is what it is.
    case .notATable, .damaged: return looks < 8
    default: return false
    }
  }
}
