import Synchronization

/// What several threads count together.
public final class Counter: Sendable {
  private let count = Atomic(0)

  public init() {}

  public func increment() { count.add(1, ordering: .sequentiallyConsistent) }
  public var value: Int { count.load(ordering: .sequentiallyConsistent) }
}
