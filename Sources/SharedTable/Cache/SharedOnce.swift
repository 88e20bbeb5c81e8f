/// A value of which there is one on the host: the first caller that asks makes it, in whatever process, and all get the same.
///
/// ```swift
/// let salt = try SharedOnce<Int>("salt", in: table)
/// let value = try salt.value { Int.random(in: 0 ... .max) }
/// ```
/// The initialiser runs outside any section and may take its time. If it throws, its caller gets the error and the
/// next one tries; if its process dies, one of the callers that wait takes over within some 100 ms. The value lies under the
/// name itself, where `table.get` finds it too.
///
/// Use it from any thread, task and process; after `fork()` the child opens the table again. Observers read a value that is there, and
/// may not compute one.
public struct SharedOnce<Value: TableValue>: Sendable {
  @usableFromInline let place: OncePlace<Value>

  /// Names the value; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without '/', '#' and control characters.
  ///   - table: where it lies.
  /// - Throws: `invalid`.
  public init(_ name: String, in table: Table) throws(TableError) {
    place = try OncePlace(table, name)
  }

  /// A copy of the value, if somebody made it already, else nil. Waits as `table.get` does: for nobody, in the RCU variant.
  /// - Throws: `typeMismatch` if the name holds something else; what else ``Table/get(_:as:)->T?`` throws.
  @inlinable
  public var current: Value? { get throws(TableError) { try place.find() } }

  /// The value; if there is none, makes it.
  ///
  /// Blocks the calling thread while another thread or process is making it. Not for async code: there, await the other
  /// form. Afterwards it is a read.
  /// - Parameters:
  ///   - timeout: for that wait; nil = the table's. Barriers wait for the table's timeout in any case.
  ///   - compute: makes the value.
  /// - Throws: what `compute` throws; `timedOut` naming who is making it; `wouldDeadlock` if `compute` asks for the value
  ///   itself, or inside a section of the table; what `Table.barrier(timeout:_:)` throws.
  // Disfavoured, or a closure without an await would choose this form in async code too, where it is unavailable.
  @available(*, noasync, message: "await value(timeout:_:) instead") @_disfavoredOverload
  @inlinable
  public func value(timeout: Duration? = nil, _ compute: () throws -> Value) throws -> Value {
    if let value = try current { return value }
    return try missingValue(timeout: timeout, compute)
  }

  @available(*, noasync) @usableFromInline @inline(never)
  func missingValue(timeout: Duration?, _ compute: () throws -> Value) throws -> Value {
    try place.missingValue(timeout: timeout, compute)
  }

  /// The value, for async code; if there is none, makes it.
  ///
  /// Suspends, and keeps no thread of the task's waiting. Ends early with `CancellationError`, within some
  /// 100 ms, if the task is cancelled while another makes the value; in the rwlock variant when a barrier that is in the way
  /// has ended. A ``HostActor`` over the same table gets `wouldDeadlock`, as its jobs are barriers: ask for the value in a `@concurrent` function.
  nonisolated(nonsending) public func value(
    timeout: Duration? = nil, _ compute: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let place = place
    let found = place.table.variant == .rcu ? try current : try await place.presentValue()
    if let found { return found }
    return try await place.missingValue(timeout: timeout, compute)
  }
}
