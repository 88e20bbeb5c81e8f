/// What ``ReadAccessor`` and ``Accessor`` have in common: a description of what to do in one section of one table.
public protocol TableAccessor<Output>: Sendable {
  /// What a run gives.
  associatedtype Output

  /// The same as an accessor that runs in a barrier.
  var promoted: Accessor<Output> { get }
}
