/// Changes guarded values, in one barrier: all of it or, if any part throws or the process dies, nothing (G2).
///
/// Immutable, and a value: running it twice does the same twice, each time in a barrier of its own.
public struct Accessor<Output>: TableAccessor {
  let commonTable: CommonTable
  let body: @Sendable (WorkingCopies) throws -> Output
  /// The value's key, of an accessor that changes one value and is no composition.
  let key: [UInt8]?

  @usableFromInline
  init(_ commonTable: CommonTable, key: [UInt8]? = nil, _ body: @escaping @Sendable (WorkingCopies) throws -> Output) {
    self.commonTable = commonTable
    self.key = key
    self.body = body
  }

  /// The accessor itself: it runs in a barrier already.
  public var promoted: Accessor<Output> { self }

  /// An accessor that touches no guarded value and gives `output`: a constant in a composition.
  public static func pure(_ output: Output, on table: Table) -> Accessor where Output: Sendable {
    ReadAccessor.pure(output, on: table).promoted
  }
}
