import CShims

/// What a thread's record says of the instant by which its section judges expiry.
public enum SectionTime {
  /// No clock was asked yet.
  public static var notYetRead: UInt64 { .max }
}

extension Segment {
  /// The instant by which the section that this thread is in judges expiry, in nanoseconds since 1970: that of its
  /// first such judgement, so that a section that reads nothing that expires does not ask the clock.
  public func instant(_ clock: ExpiryClock) -> UInt64 {
    guard let record = unsafe shm_thread_quick_find(id) else { return clock.now }
    if unsafe record.pointee.now == SectionTime.notYetRead { unsafe record.pointee.now = clock.now }
    return unsafe record.pointee.now
  }

  /// The instant from which on a value lives that is stored now, if it is to live for a time. It is that of the barrier. A barrier of keys may
  /// last, and what it stores in the end would be expired at its commit: there it is the instant of the call.
  public func storingInstant(_ clock: ExpiryClock) -> UInt64 {
    let record = unsafe shm_thread_quick_find(id)
    return unsafe record?.pointee.inBarrier == BarrierMark.keyed.rawValue ? clock.now : instant(clock)
  }
}
