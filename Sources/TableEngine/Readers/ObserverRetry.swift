import SharedMemory

/// How often, and for how long, an observer that was overtaken by a reclaiming process, or by a barrier of the rwlock variant, starts
/// over.
@frozen
public struct ObserverRetry {
  @usableFromInline var attempts = 0
  /// By the monotonic clock, from the first attempt that failed.
  @usableFromInline var deadline: UInt64 = 0

  @inlinable
  public init() {}

  /// How often an observer's read starts over before it says `busy`.
  static var maximumAttempts: Int { 1000 }

  /// Counts an attempt that failed.
  /// - Throws: `busy` if it was the last one, by number or by time.
  public mutating func countAttempt(timeoutNanoseconds: UInt64) throws(EngineError) {
    attempts += 1
    let now = HostClock.monotonicNanoseconds
    if attempts == 1 {
      let (sum, overflow) = now.addingReportingOverflow(timeoutNanoseconds)
      deadline = overflow ? .max : sum
    }
    if attempts == Self.maximumAttempts || now >= deadline { throw .busy(attempts: attempts) }
  }
}
