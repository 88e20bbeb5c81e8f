/// A number that all processes count on: exact, one key, one barrier for each addition.
///
/// Not striped over several keys. Striping helps where additions would run beside each other; here one barrier runs at a
/// time on the whole host, so stripes would make reads dearer and additions no cheaper. If you count very often, add up
/// in a local variable first.
///
/// It lies under the key NAME as an integer: `shmctl incr`, `Table.increment(_:by:timeout:)` and a
/// `SharedValue<Int>` of the same name count on the same number. If the key has an expiry, additions and resets keep it. Waits and throws
/// as ``SharedValue`` does.
public struct SharedCounter: Sendable {
  let number: SharedValue<Int>

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - table: where it lies.
  /// - Throws: `invalid` for another name.
  public init(_ name: String, in table: Table) throws(TableError) {
    number = try SharedValue(name, in: table, default: 0)
  }

  /// The table that it lies in.
  public var table: Table { number.table }
  /// The name that it has in the table.
  public var name: String { number.name }

  /// The count as of now.
  public var value: Int {
    get throws(TableError) { try number.value }
  }

  /// The count, as a section sees it.
  public func value(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try number.value(in: section)
  }

  /// Adds, and returns the sum.
  /// - Throws: `invalid` if it does not fit into 64 bits; the count stays then.
  @discardableResult
  public func increment(by amount: Int = 1, timeout: Duration? = nil) throws(TableError) -> Int {
    try number.increment(by: amount, timeout: timeout)
  }

  /// Adds as part of a barrier, and returns the sum; throws what the transaction throws.
  @discardableResult
  public func increment(by amount: Int = 1, in tx: inout Transaction) throws(TableError) -> Int {
    try number.increment(by: amount, in: &tx)
  }

  /// Sets the count to 0 and returns what it was, in one barrier: nothing is counted twice or not at all.
  @discardableResult
  public func reset(timeout: Duration? = nil) throws(TableError) -> Int { try number.exchange(0, timeout: timeout) }

  /// Sets the count to 0 as part of a barrier, and returns what it was; throws what the transaction throws.
  @discardableResult
  public func reset(in tx: inout Transaction) throws(TableError) -> Int {
    try number.exchange(0, in: &tx)
  }
}

/// Changes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if
/// nothing is in their way; else the task suspends. A closure that finds no room (`full`) is undone and run again.
extension SharedCounter {
  /// Adds, and returns the sum.
  /// - Throws: `invalid` if it does not fit into 64 bits; the count stays then.
  @discardableResult
  nonisolated(nonsending) public func increment(by amount: Int = 1, timeout: Duration? = nil) async throws -> Int {
    try await number.increment(by: amount, timeout: timeout)
  }

  /// Sets the count to 0 and returns what it was, in one barrier: nothing is counted twice or not at all.
  @discardableResult
  nonisolated(nonsending) public func reset(timeout: Duration? = nil) async throws -> Int {
    try await number.exchange(0, timeout: timeout)
  }
}
