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
}
