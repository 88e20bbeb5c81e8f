/// A look at one value in a section of its own, which it may wait for as long as it is told; nil = the table's timeout.
@usableFromInline typealias AccessLook<Output> = @Sendable (Duration?) throws -> Output

/// What a ``ReadAccessor`` is. A class, so that whoever hands it on counts one reference.
@usableFromInline
final class ReadPlan<Output>: Sendable {
  let commonTable: CommonTable
  let body: @Sendable (WorkingCopies) throws -> Output
  /// Of an accessor that looks at one value and is no composition: the same without working copies, and specialised where it was
  /// lifted.
  @usableFromInline let look: AccessLook<Output>?

  init(
    _ commonTable: CommonTable, look: AccessLook<Output>?, _ body: @escaping @Sendable (WorkingCopies) throws -> Output
  ) {
    self.commonTable = commonTable
    self.look = look
    self.body = body
  }
}
