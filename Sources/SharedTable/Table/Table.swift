public import SharedMemory
public import TableEngine

/// A table in shared memory that every process on the host reads at memory speed and writes under a host-wide
/// barrier.
///
/// Guarantees are numbered G1–G11 in the README. A handle may be used from any thread; a read or a barrier runs on the
/// thread that calls it. After `fork()` the child's handles throw `forked` until it opens the table again.
///
/// ```swift
/// let table = try Table.open("settings")
/// try table.set("greeting", "hello")
/// let greeting = try table.get("greeting", as: String.self)
/// ```
public final class Table: Sendable {
  /// RCU (readers never wait) or rwlock (readers and barriers exclude each other, memory is reused at once).
  public typealias Variant = TableEngine.Variant
  /// Capacity, variant, rights and policies of a table to be made.
  public typealias Options = SegmentOptions
  /// What happens when readers keep more than the limbo budget from being reused.
  public typealias StalledReaderPolicy = TableEngine.StalledReaderPolicy
  /// How a process wants to take part.
  public typealias Access = AccessRequest
  /// Whose tables a process uses besides root's, those of the user `shmd` and its own.
  public typealias TrustedOwners = TableEngine.TrustedOwners
  /// A user who owns a table: number, and name where `/etc/passwd` has it.
  public typealias Owner = HostUser

  /// The name by which it was opened.
  public let name: String
  /// How long a wait lasts where the call does not say.
  public let timeout: Duration
  @usableFromInline package let segment: Segment
  @usableFromInline let clock: ExpiryClock
  @usableFromInline let timeoutNanoseconds: UInt64
  /// Asynchronous writes to the store that it mirrors.
  let upstreamWrites = Locked(UpstreamQueue())

  package init(_ segment: Segment, timeout: Duration, clock: ExpiryClock) {
    name = segment.name
    self.segment = segment
    self.timeout = timeout
    self.clock = clock
    timeoutNanoseconds = timeout.clampedNanoseconds
  }

  /// How many bytes a key may have.
  public static let keyLengths = 1...Segment.maximumKeyLength

  /// What a wait lasts at most unless said otherwise: 5 seconds.
  public static var defaultTimeout: Duration { .seconds(5) }

  /// Which of the two it was made as.
  public var variant: Variant { segment.variant }
  /// Whether this handle only observes: reads work, writes throw `notPermitted`.
  public var isObserver: Bool { segment.access == .observer }
  /// The most the table may grow to, in bytes, its own bookkeeping included.
  public var capacityBytes: Int { segment.geometry.capacityBytes }
  /// The longest value this table takes, in bytes.
  public var maximumValueLength: Int { segment.geometry.maximumValueLength }
  /// Number of the newest committed version. Grows with every commit, and with reclaiming.
  public var version: UInt64 { segment.committed }

  /// Number of keys as of the newest committed version, expired ones that nobody removed yet included.
  /// Never blocks; one or two loads.
  public var count: Int { segment.keyCount }

  /// False in a child that was forked since the table was opened.
  var isOfThisProcess: Bool { segment.isOfThisProcess }

  /// Gives an engine's error this table's name.
  @usableFromInline
  func named(_ error: EngineError) -> TableError { TableError(error, table: name) }

  /// What a call of the engine gives; gives its error this table's name. Where a section may run at any rate, `do` and `catch` stand
  /// in place, so that nothing is called in between.
  func naming<R>(_ call: @autoclosure () throws(EngineError) -> R) throws(TableError) -> R {
    do throws(EngineError) { return try call() } catch { throw named(error) }
  }

  @usableFromInline
  func nanoseconds(_ timeout: Duration?) -> UInt64 { timeout?.clampedNanoseconds ?? timeoutNanoseconds }
}
