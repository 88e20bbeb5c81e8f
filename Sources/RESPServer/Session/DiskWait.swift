import SharedTable

/// `WAITAOF numlocal numreplicas timeout`: the connection's writes are to be on the disk.
///
/// A class, because a session looks after each command whether there is one: that is a comparison with nil.
final class DiskWait {
  struct Target {
    let table: Table
    /// The table's when the wait began: it covers all that the connection has stored, and perhaps others' writes.
    let version: UInt64
  }

  /// What is not known to be on the disk yet.
  private(set) var targets: [Target]
  /// Waits for the store of the first of them. Nil before ``advance()`` has found that there is something to wait for.
  private(set) var watch: Watch?
  /// Nil: for ever.
  let end: ContinuousClock.Instant?
  /// Whether it is to wait, and not only asked how far the stores are.
  private let isWanted: Bool

  init(_ request: Request, _ session: Session) throws {
    guard let copies = request[1].integer else { throw CommandError.notAnInteger }
    guard 0...1 ~= copies else { throw CommandError("ERR value is out of range, value must between 0 and 1") }
    guard let replicas = request[2].integer else { throw CommandError.notAnInteger }
    guard replicas >= 0 else { throw CommandError("ERR value is out of range, must be positive") }
    let timeout = try Self.timeout(request[3])
    isWanted = copies == 1
    end = timeout == 0 ? nil : .now + .milliseconds(timeout)
    targets = try session.writtenDatabases.map { database in
      let table = try database.table()
      return Target(table: table, version: table.version)
    }
  }

  /// Milliseconds; WAIT and WAITAOF say alike what is none.
  static func timeout(_ argument: Bytes) throws(CommandError) -> Int {
    guard let timeout = argument.integer, timeout <= 1 << 40 else {
      throw CommandError("ERR timeout is not an integer or out of range")
    }
    guard timeout >= 0 else { throw CommandError("ERR timeout is negative") }
    return timeout
  }

  /// Looks how far the stores are: lets go of the targets that are on the disk, and begins to watch the first that is not. Does not block.
  /// - Returns: whether there is nothing to wait for any more.
  /// - Throws: what would never be on the disk is waited for; `system` if there is no thread to wait.
  func advance() throws(TableError) -> Bool {
    while let target = targets.first {
      if !isWanted {
        guard target.table.durableVersion >= target.version else { return true }
      } else if try !target.table.isDurable(target.version) {
        if let end, end <= .now { return true }
        watch = try Watch(target.table)
        return false
      }
      targets.removeFirst()
    }
    return true
  }
}

extension Session {
  /// Answers, or leaves what is to be waited for in ``diskWait``: then the command is carried out anew.
  func waitForDisk(_ request: Request) throws {
    let wait = try diskWait ?? DiskWait(request, self)
    diskWait = nil
    guard try wait.advance() else { return diskWait = wait }
    reply.array(2)
    reply.integer(wait.targets.isEmpty ? 1 : 0)
    reply.integer(0)
  }
}
