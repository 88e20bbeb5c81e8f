/// What a thread's record says of the instant by which its section judges expiry.
public enum SectionTime {
  /// No clock was asked yet.
  public static var notYetRead: UInt64 { .max }
}
