import SharedMemory

/// A child that was forked has inherited the handle, and nothing of what the handle stands for: neither its threads' slots nor what the kernel
/// holds for the parent.
extension Segment {
  /// False in a child that inherited the handle through fork.
  @inlinable public var isOfThisProcess: Bool { forkGeneration.isOfThisProcess }

  /// - Throws: `forked` in a child that inherited the handle.
  @inline(__always)
  func checkOfThisProcess() throws(EngineError) {
    guard isOfThisProcess else { throw .forked }
  }
}
