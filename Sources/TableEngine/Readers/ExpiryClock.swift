import SharedMemory

/// The clock by which expiry is judged: the host's, or one that a test drives.
@frozen
public struct ExpiryClock: Sendable {
  @usableFromInline let injected: (@Sendable () -> UInt64)?

  /// Nil: CLOCK_REALTIME. Else a function that gives nanoseconds since 1970.
  @inlinable
  public init(_ injected: (@Sendable () -> UInt64)? = nil) { self.injected = injected }

  public var now: UInt64 { injected?() ?? HostClock.realtimeNanoseconds }
}
