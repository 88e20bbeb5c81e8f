import SharedMemory
public import TableEngine

extension Table {
  /// Makes a table and opens it.
  ///
  /// Blocks only for the system calls. With nothing left behind it throws `exists`, `foreign` (a user whom nobody trusts
  /// has the name), `invalid` (name or options), `full` (no room in /dev/shm), `notPermitted`.
  /// - Parameters:
  ///   - name: 1 to 200 letters, digits and `. _ - @ : +`, not starting with a dot.
  ///   - options: capacity, variant, rights and policies.
  ///   - timeout: what a wait lasts at most where the call does not say.
  ///   - clock: by which expiry is judged, in nanoseconds since 1970; for tests.
  public static func create(
    _ name: String, _ options: Options = Options(), timeout: Duration = defaultTimeout,
    clock: (@Sendable () -> UInt64)? = nil
  ) throws(TableError) -> Table {
    try create(name, options, timeout: timeout, clock: clock, goesOn: { true })
  }

  /// As ``create(_:_:timeout:clock:)``, for a daemon with a watchdog: to claim tens of GB takes longer than that waits.
  /// - Parameter goesOn: asked after each part of the work; if it says no before the table is whole, nothing is made: `system` with ECANCELED.
  package static func create(
    _ name: String, _ options: Options, timeout: Duration = defaultTimeout, clock: (@Sendable () -> UInt64)? = nil,
    goesOn: () -> Bool
  ) throws(TableError) -> Table {
    try check(name)
    let segment = try make(name, options, trusting: [], goesOn: goesOn)
    return Table(segment, timeout: timeout, clock: ExpiryClock(clock))
  }

  static func make(
    _ name: String, _ options: Options, trusting: TrustedOwners, goesOn: () -> Bool = { true }
  ) throws(TableError) -> Segment {
    do throws(EngineError) { return try Segment.create(name, options, trusted: trusting, goesOn: goesOn) } catch {
      throw TableError(making: error, table: name)
    }
  }

  /// Opens an existing table. Never creates one. Waits for whoever is making it just now, or replacing it: no longer than
  /// the timeout and, where only time can tell whether the maker lives, than a second.
  ///
  /// - Parameters:
  ///   - name: the table's.
  ///   - access: `.automatic` takes part where rights, owner and PID namespace allow it, and else observes.
  ///   - variant: if given, another variant throws `incompatible`.
  ///   - trusting: users whose tables to use, besides those of root, of the user `shmd` and of one's own effective user.
  ///     Anybody may have made what lies under a name. `.everyone` observes whoever's table it is, and does not take part.
  ///   - timeout: what a wait lasts at most where the call does not say.
  ///   - clock: by which expiry is judged, in nanoseconds since 1970; for tests.
  /// - Throws: `noSuchTable`, `foreign` (the table of a user who is not trusted; ``TableError/owner`` names the user), `notATable`,
  ///   `incompatible`, `damaged`, `notPermitted`, `full` (address space).
  public static func open(
    _ name: String, access: Access = .automatic, variant: Variant? = nil, trusting: TrustedOwners = [],
    timeout: Duration = defaultTimeout, clock: (@Sendable () -> UInt64)? = nil
  ) throws(TableError) -> Table {
    try check(name)
    let segment = try attach(name, access, trusting, timeout.clampedNanoseconds)
    if let variant, variant != segment.variant {
      throw TableError(
        .incompatible, table: name, "it is of the \(segment.variant) variant, not \(variant); open it as what it is")
    }
    return Table(segment, timeout: timeout, clock: ExpiryClock(clock))
  }

  static func attach(
    _ name: String, _ access: Access, _ trusting: TrustedOwners, _ timeoutNanoseconds: UInt64
  ) throws(TableError) -> Segment {
    do throws(EngineError) {
      return try Segment.open(name, access, trusted: trusting, timeoutNanoseconds: timeoutNanoseconds)
    } catch {
      throw TableError(error, table: name)
    }
  }

  /// Removes a table's name. Processes that have it open keep reading what it held; their next barrier throws
  /// `unlinked`.
  ///
  /// Blocks while another process is making or dropping the table, two seconds at most.
  /// - Parameters:
  ///   - name: the table's.
  ///   - trusting: users whose objects to remove, besides those of root, of the user `shmd` and of one's own effective
  ///     user; `.everyone` removes whatever has the name. The system lets only the owner and root do it.
  /// - Throws: `noSuchTable`, `foreign` (the object of a user who is not trusted), `notATable` (a directory), `notPermitted`.
  public static func drop(_ name: String, trusting: TrustedOwners = []) throws(TableError) {
    try check(name)
    do throws(EngineError) { try Segment.drop(name, trusted: trusting) } catch { throw TableError(error, table: name) }
  }

  /// The user who has taken the name, if it is one whose tables this process does not use; nil if the table may be observed,
  /// or there is none. Never blocks.
  ///
  /// For listings: the next moment another may have the name. ``open(_:access:variant:trusting:timeout:clock:)`` looks for
  /// itself, at what it opened.
  /// - Throws: `invalid` for another name than a table can have.
  public static func foreignOwner(of name: String, trusting: TrustedOwners = []) throws(TableError) -> Owner? {
    try check(name)
    return NamedObject.foreignOwner(ofTable: name, trusted: trusting)
  }

  /// The names of the tables on this host, sorted; half-made ones and those of other users included: see
  /// ``foreignOwner(of:trusting:)``. Reads a directory, opens no table, and never blocks.
  /// - Throws: `system` if /dev/shm cannot be read.
  public static func names() throws(TableError) -> [String] {
    do throws(SystemError) {
      return Set(try SharedObject.list(prefix: ObjectName.prefix).compactMap(ObjectName.table(ofObject:))).sorted()
    } catch {
      throw TableError(
        .system, table: "*", "cannot look into /dev/shm (\(error)); mount a tmpfs there", errno: error.errno)
    }
  }

  /// A private table that is gone with this handle: for the unit tests of code that uses tables.
  ///
  /// It has memory in /dev/shm but never a name there: nobody else can open it, and a process that is killed leaves nothing.
  /// Blocks only for the system calls.
  /// - Parameters:
  ///   - variant: RCU or rwlock.
  ///   - capacityBytes: the most that it may grow to; at least 1 MiB.
  ///   - clock: by which expiry is judged, in nanoseconds since 1970; nil = the system's.
  /// - Throws: `invalid` (capacity), `full` (no room in /dev/shm), `system`.
  public static func temporary(
    variant: Variant = .rcu, capacityBytes: Int = 4 << 20, clock: (@Sendable () -> UInt64)? = nil
  ) throws(TableError) -> Table {
    let name = "temporary.\(ProcessIdentity.pid).\(UInt64.random(in: 0 ... .max))"
    do throws(EngineError) {
      let segment = try Segment.createNameless(name, Options(variant: variant, capacityBytes: capacityBytes))
      return Table(segment, timeout: defaultTimeout, clock: ExpiryClock(clock))
    } catch {
      throw TableError(making: error, table: name)
    }
  }

  static func check(_ name: String) throws(TableError) {
    guard ObjectName.isValid(name) else {
      throw TableError(
        .invalid, table: String.printableStart(name.utf8),
        "not a table name: use 1 to \(ObjectName.maximumLength) letters, digits and . _ - @ : +, not starting with a dot"
      )
    }
  }
}
