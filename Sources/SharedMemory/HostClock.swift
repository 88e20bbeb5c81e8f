public import CShims

/// The host's two clocks, in nanoseconds.
public enum HostClock {
  /// Since 1970, CLOCK_REALTIME: the same for every process and after a reboot, and it may be set back.
  @inlinable @inline(__always)
  public static var realtimeNanoseconds: UInt64 { shmos_realtime_ns() }

  /// CLOCK_MONOTONIC: the same for every process (outside time namespaces), until the reboot. For timeouts.
  @inlinable @inline(__always)
  public static var monotonicNanoseconds: UInt64 { shmos_monotonic_ns() }

  /// CLOCK_MONOTONIC_COARSE: the same time as of the last tick, some milliseconds old at most, at a fraction of the price.
  @inlinable @inline(__always)
  public static var coarseNanoseconds: UInt64 { shmos_monotonic_coarse_ns() }
}
