import SharedMemory

/// How far a mirror's table may be behind its store.
extension UpstreamStatus {
  /// How old the table may be, at most; nil: it never was whole, or nobody can tell.
  ///
  /// By the clock that nobody sets and by the calendar: the longer of both. So a clock that was set back hides nothing. After a reboot
  /// only the calendar tells; one that has not been set yet, and is behind what the table says, tells nothing.
  package func lag(now: UInt64, monotonic: UInt64) -> Duration? {
    let isOfThisBoot = asOfMonotonic > 0 && monotonic >= asOfMonotonic
    guard revision > 0, asOf > 0, now > asOf || isOfThisBoot else { return nil }
    let byCalendar = now > asOf ? now - asOf : 0
    let bySteadyClock = isOfThisBoot ? monotonic - asOfMonotonic : 0
    return .nanoseconds(Int64(clamping: max(byCalendar, bySteadyClock)))
  }

  /// How old the table may be, at most, by this host's clocks.
  package var lag: Duration? {
    lag(now: HostClock.realtimeNanoseconds, monotonic: HostClock.monotonicNanoseconds)
  }

  /// A moment by both of this host's clocks: the calendar can be set, and the other begins anew with the host.
  package struct Moment: Sendable {
    package let realtime: UInt64
    package let monotonic: UInt64

    package init(realtime: UInt64, monotonic: UInt64) {
      self.realtime = realtime
      self.monotonic = monotonic
    }

    package static var now: Moment {
      Moment(realtime: HostClock.realtimeNanoseconds, monotonic: HostClock.monotonicNanoseconds)
    }
  }

  /// Whether the table is known to have all that was in the other store at a moment.
  package func isAsNew(as moment: Moment) -> Bool {
    asOf >= moment.realtime && asOfMonotonic >= moment.monotonic
  }
}
