/// Byte offsets in a slot. Line 0 is written by its thread (and by eviction's compare-and-swap), the rest seldom.
public enum SlotLayout {
  /// Idle, or a version that is pending, exact, or evicted: see ``SlotWord``.
  public static let snapshot = 0
  /// IDLE, or the version from which on nothing this thread can reach may be reused.
  public static let pin = 8
  /// rwlock variant: 0, or generation and state.
  public static let rw = 16
  /// rwlock variant: barriers ended when its thread began to wait, plus 1; 0 = it does not wait.
  public static let wait = 24
  public static let mutex = 64
  public static let pid = 128
  public static let tid = 136
  public static let startTime = 144
  public static let command = 152  // 16 bytes
  public static let purpose = 168
  public static let since = 176
  /// 1 if its thread's fences are light: it relies on others' membarrier.
  public static let light = 184
  /// The oldest version that gc last found it to keep, and since when (CLOCK_MONOTONIC): for people. Under W.
  public static let inTheWayVersion = 192
  public static let inTheWaySince = 200
  /// 0, or stamp and state of a claim: see ``Claims``. Back to 0 by its thread at any time.
  public static let claim = 208
  /// The claim's keys, to the slot's end: see ``ClaimSet``. Written under W.
  static let claimKeys = 216
}
