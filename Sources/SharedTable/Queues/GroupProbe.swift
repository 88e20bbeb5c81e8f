import Synchronization

/// Tells a handler how many asynchronous barriers shared one barrier of the table. The product SharedTableMetrics sets the handler.
///
/// One for the process. Without it a group costs one load more.
package enum GroupProbe {
  /// A group that has been committed.
  package struct Group: Sendable {
    /// The table's name.
    package let table: String
    /// The queue's label; empty for one of the library's own.
    package let label: String
    /// How many barriers it held.
    package let count: Int
  }

  package typealias Handler = @Sendable (Group) -> Void

  private static let isOn = Atomic(false)
  private static let handler = Mutex<Handler?>(nil)

  /// Replaces the handler. It runs on the threads that run barriers, outside locks, sections and the queue's turn, after those who wait for the
  /// group's barriers were told. It may use the queue; an asynchronous barrier that it submits makes a group, of which it is told again.
  package static func set(_ new: Handler?) {
    let old = handler.withLock { handler in
      defer { handler = new }
      // Under the lock, so that of two calls at once the later one's flag stays. When another thread sees it does not matter.
      isOn.store(new != nil, ordering: .relaxed)
      return handler
    }
    // What it captures may end with it, and must not end under the lock.
    withExtendedLifetime(old) {}
  }

  static func tell(_ group: @autoclosure () -> Group) {
    guard isOn.load(ordering: .relaxed) else { return }
    let handler = handler.withLock { $0 }
    handler?(group())
  }
}
