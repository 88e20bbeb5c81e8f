/// Looks at guarded values, in one read section: one snapshot, whatever it is composed of (G1).
///
/// Immutable, and a value: running it twice does the same twice, each time in a section of its own. It cannot change
/// anything; ``promoted`` makes an ``Accessor`` of it, which can be composed with accessors that change values.
public struct ReadAccessor<Output>: TableAccessor {
  @usableFromInline let plan: ReadPlan<Output>

  var commonTable: CommonTable { plan.commonTable }
  var body: @Sendable (WorkingCopies) throws -> Output { plan.body }

  init(
    _ commonTable: CommonTable, look: AccessLook<Output>? = nil,
    _ body: @escaping @Sendable (WorkingCopies) throws -> Output
  ) {
    plan = ReadPlan(commonTable, look: look, body)
  }

  /// An accessor that does what this one does, in a barrier instead of a read section.
  public var promoted: Accessor<Output> { Accessor(commonTable, body) }

  /// An accessor that touches no guarded value and gives `output`: a constant in a composition.
  public static func pure(_ output: Output, on table: Table) -> ReadAccessor where Output: Sendable {
    ReadAccessor(.one(table)) { _ in output }
  }
}
