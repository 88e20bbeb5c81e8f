/// A value in the table that belongs to a ``HostActor``: all processes' actors over the table share it.
///
/// It is there in the actor's jobs, as of the job's barrier, and in barriers of the whole table. Elsewhere its methods throw
/// `invalid`. Where a job runs without the table, they throw why.
///
/// It lies in the table under its name, as a ``SharedValue`` of the same name and type does. If its key expires, a change keeps that; a
/// `set` ends it.
public struct HostState<Value: TableValue>: Sendable {
  @usableFromInline let stored: SharedValue<Value>
  @usableFromInline let executor: HostExecutor

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: the key in the table.
  ///   - executor: the actor's.
  ///   - defaultValue: what it is as long as none is stored.
  /// - Throws: `invalid` for a name that cannot be. Touches the table not at all.
  public init(_ name: String, in executor: HostExecutor, default defaultValue: Value) throws(TableError) {
    stored = try SharedValue(name, in: executor.table, default: defaultValue)
    self.executor = executor
  }

  /// The value as of now, with what this job has changed.
  @inlinable
  public var value: Value { get throws { try executor.access { tx in try stored.value(in: tx) } } }

  /// Replaces the value.
  /// - Throws: `full`, `tooLarge`, `typeMismatch`; the value stays then.
  @inlinable
  public func set(_ value: Value) throws { try executor.access { tx in try stored.set(value, in: &tx) } }

  /// Changes the value in place. If `body` throws, the value stays. What `body` itself stores in this state is replaced by the outcome.
  /// - Returns: what `body` returns.
  @discardableResult @inlinable
  public func mutate<R>(_ body: (inout Value) throws -> R) throws -> R {
    try executor.transaction { tx in try stored.mutate(in: &tx, body) }
  }
}

extension HostState where Value: FixedWidthInteger {
  /// Adds: `try count += 1`.
  /// - Throws: `invalid` if the sum does not fit; the value stays then.
  @inlinable
  public static func += (state: Self, amount: Value) throws {
    try state.executor.access { tx in _ = try state.stored.increment(by: amount, in: &tx) }
  }

  /// Subtracts: `try count -= 1`.
  /// - Throws: `invalid` if the difference does not fit; the value stays then.
  @inlinable
  public static func -= (state: Self, amount: Value) throws {
    try state.executor.access { tx in try state.stored.decrement(by: amount, in: &tx) }
  }
}
