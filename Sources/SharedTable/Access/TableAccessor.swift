/// What ``ReadAccessor`` and ``Accessor`` have in common: a description of what to do in one section of one table.
public protocol TableAccessor<Output>: Sendable {
  /// What a run gives.
  associatedtype Output

  /// An accessor that does what this one does, and runs in a barrier.
  var promoted: Accessor<Output> { get }
}
