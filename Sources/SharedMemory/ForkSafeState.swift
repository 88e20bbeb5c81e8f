import Synchronization

/// What the threads of one process share, behind a lock that a child made by fork() finds free.
///
/// A child inherits a copy of it that is about its parent: about threads that the child does not have, and slots and waits that it does not
/// hold. So the first use in the child puts new state in the place of the copy.
public final class ForkSafeState<Value: Sendable>: Sendable {
  private struct Content {
    var generation = ForkGeneration()
    var value: Value
  }

  private let content: Mutex<Content>
  private let forChild: @Sendable (Value) -> Value

  /// - Parameter forChild: the child's first state, by what the parent's was at the fork.
  public init(_ value: Value, forChild: @escaping @Sendable (Value) -> Value) {
    content = Mutex(Content(value: value))
    self.forChild = forChild
  }

  /// Runs `body` under both locks, this one and ``ForkLock``. It must not drop what may be the last reference to something whose end takes
  /// one of them: the thread would wait for itself, and each fork of the process for that thread. So `body` returns what it takes out.
  public func withLock<R>(_ body: (inout Value) -> R) -> R {
    // Dropped after the locks, for the same reason.
    var ofParent: Value?
    defer { withExtendedLifetime(ofParent) {} }
    return ForkLock.hold {
      content.withLock { content in
        if !content.generation.isOfThisProcess {
          ofParent = content.value
          content = Content(value: forChild(content.value))
        }
        return body(&content.value)
      }
    }
  }
}
