/// What the writer did, counted: the figures behind "the worst write does constant work".
///
/// Process-local and written under W only, in raw memory so that counting costs an add and no exclusivity check.
@safe
public final class WorkCounters: @unchecked Sendable {
  // Sendable because only the owner of the writer lock touches it.
  private let fields: UnsafeMutablePointer<Int>
  private static let count = 12

  init() {
    unsafe fields = .allocate(capacity: Self.count)
    unsafe fields.initialize(repeating: 0, count: Self.count)
  }

  deinit { unsafe fields.deallocate() }

  /// Bucket words looked through and directory words written by splits and rebuilds.
  public internal(set) var wordsMoved: Int {
    get { unsafe fields[0] }
    set { unsafe fields[0] = newValue }
  }
  /// Bitmap words the allocator looked at.
  public internal(set) var bitmapWords: Int {
    get { unsafe fields[1] }
    set { unsafe fields[1] = newValue }
  }
  /// Units of 1 MiB made.
  public internal(set) var units: Int {
    get { unsafe fields[2] }
    set { unsafe fields[2] = newValue }
  }
  /// Slabs made.
  public internal(set) var slabs: Int {
    get { unsafe fields[3] }
    set { unsafe fields[3] = newValue }
  }
  /// Reader slots scanned by reclaims.
  public internal(set) var slotsScanned: Int {
    get { unsafe fields[4] }
    set { unsafe fields[4] = newValue }
  }
  /// Superseded versions looked at by unlink passes.
  public internal(set) var versionsScanned: Int {
    get { unsafe fields[5] }
    set { unsafe fields[5] = newValue }
  }
  /// Records of the journal looked at by commits, aborts and recovery.
  public internal(set) var recordsReplayed: Int {
    get { unsafe fields[6] }
    set { unsafe fields[6] = newValue }
  }
  /// Words put back by aborts and recovery.
  public internal(set) var wordsRestored: Int {
    get { unsafe fields[7] }
    set { unsafe fields[7] = newValue }
  }
  /// Blocks given back to the allocator.
  public internal(set) var blocksFreed: Int {
    get { unsafe fields[8] }
    set { unsafe fields[8] = newValue }
  }

  /// Waiting readers of the rwlock variant that a barrier gave up after a slice.
  public internal(set) var readersGivenUp: Int {
    get { unsafe fields[9] }
    set { unsafe fields[9] = newValue }
  }

  /// Blocks of superseded versions that a write took as they were.
  public internal(set) var blocksRecycled: Int {
    get { unsafe fields[10] }
    set { unsafe fields[10] = newValue }
  }

  /// Entries moved to a larger block than they need.
  public internal(set) var entriesGivenSlack: Int {
    get { unsafe fields[11] }
    set { unsafe fields[11] = newValue }
  }

  /// All of it, field by field, to be compared.
  public var all: [Int] { (0..<Self.count).map { unsafe fields[$0] } }
}
