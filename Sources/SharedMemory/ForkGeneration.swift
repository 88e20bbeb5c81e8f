import CShims

/// Tells the process that made something from a child that it forked: the child has a copy of it, and nothing that the copy
/// stands for, neither the threads nor what the kernel holds for the parent.
@frozen
public struct ForkGeneration: Sendable, Equatable {
  /// For the shim, which compares it itself.
  public let number: UInt64

  /// The calling process's.
  @inlinable @inline(__always)
  public init() { number = shm_fork_generation() }

  /// False in a child that was forked since.
  @inlinable @inline(__always)
  public var isOfThisProcess: Bool { shm_fork_generation() == number }
}
