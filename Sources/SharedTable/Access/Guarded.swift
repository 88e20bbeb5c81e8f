/// A value in a table that nobody can touch outside a section of the table.
///
/// There is no getter and no setter. `accessor(_:)` lifts a function of the value into an accessor, which runs the
/// function inside a section: in a read section if it only looks, in a barrier if it changes the value. Accessors of
/// several values of one table compose into one, which still runs in a single section.
///
/// ```swift
/// let stock = Guarded("stock", in: table, default: 100)
/// let orders = Guarded("orders", in: table, default: [UInt8]())
/// let take = stock.accessor { count in
///   guard count > 0 else { throw SoldOut() }
///   count -= 1
/// }
/// try take.zip(orders.accessor { $0.append(7) }).accessSync()  // both or neither
/// ```
/// What an accessor hands out is a copy. May be used from any thread, and as long as one likes; a read of a value that
/// another process stored as another type throws `typeMismatch`.
public struct Guarded<Value: TableValue>: Sendable {
  /// The table the value is in, by the handle that accessors of this value run on.
  public let table: Table
  /// The value's key.
  public let key: [UInt8]
  /// What the value is while the table has none: before the first change, and after it was removed or has expired.
  public let defaultValue: Value

  /// Names a value. Touches nothing: the table gets a value with the first change.
  public init(_ key: some TableKey, in table: Table, default defaultValue: Value) {
    self.table = table
    self.key = unsafe key.withKeyBytes { bytes in unsafe [UInt8](bytes) }
    self.defaultValue = defaultValue
  }

  /// Lifts a function that only looks at the value.
  ///
  /// The compiler takes this `accessor(_:)` for a function that does not change its argument, and the other one for a function that
  /// does.
  /// - Parameter body: runs in a section, at each run of the accessor: keep it short, and do not use the table in it.
  @inlinable
  public func accessor<Output>(
    _ body: @escaping @Sendable (Value) throws -> Output
  ) -> ReadAccessor<Output> {
    lifted(body) { [table, key, defaultValue] timeout in
      try table.read(timeout: timeout) { (view: borrowing ReadView) in
        try body(view.get(key, as: Value.self) ?? defaultValue)
      }
    }
  }

  @usableFromInline
  func lifted<Output>(
    _ body: @escaping @Sendable (Value) throws -> Output, _ look: @escaping AccessLook<Output>
  ) -> ReadAccessor<Output> {
    ReadAccessor(.one(table), look: look) { copies in try copies.read(self, body) }
  }

  /// Lifts a function that may change the value.
  ///
  /// The value is written back once, when the whole accessor has run; if any part of it throws, it is not written. Its expiry
  /// stays.
  /// - Parameter body: runs in a barrier, at each run of the accessor: keep it short, and do not use the table in it.
  @_disfavoredOverload @inlinable
  public func accessor<Output>(
    _ body: @escaping @Sendable (inout Value) throws -> Output
  ) -> Accessor<Output> {
    Accessor(.one(table), key: key) { copies in try copies.change(self, body) }
  }
}
