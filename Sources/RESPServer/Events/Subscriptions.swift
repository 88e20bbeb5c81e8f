/// What one connection listens to. A name is found without a look at the others, which may be many and long.
struct Subscriptions {
  /// Each with its number in the order in which the client began to listen.
  private var channels: [[UInt8]: Int] = [:]
  private var patterns: [[UInt8]: Int] = [:]
  private var begun = 0
  /// Of all names.
  private(set) var bytes = 0
  /// Of all patterns, by ``Glob/cost(ofLength:)``.
  private(set) var patternCost = 0

  /// One client listens to no more than so many, of so many bytes: each costs the server memory.
  static let most = 10_000
  static let mostBytes = 64 << 20
  /// In bytes. A message is compared with every pattern: the loop answers nobody while it compares long ones. A notification's channel is
  /// a little longer than its key.
  static let longestChannel = 128 << 10
  static let longestPattern = 4 << 10
  /// So many patterns of fewer than 64 bytes, or fewer longer ones. With these one client makes the longest channel take a few tenths of a second.
  static let mostPatternCost = 1024

  /// About how much memory is taken by a name besides its bytes: the array that holds them, its places here and in the broker, and the broker's
  /// dictionary of who listens to it.
  private static let bytesBesideName = 300

  /// About how much memory all of it takes.
  var heldBytes: Int { bytes + count * Self.bytesBesideName + patternCost * Glob.bytesOfCost }

  var counts: (channels: Int, patterns: Int) { (channels.count, patterns.count) }
  var count: Int { channels.count + patterns.count }

  /// In the order in which the client began to listen.
  func names(arePatterns: Bool) -> [[UInt8]] {
    (arePatterns ? patterns : channels).sorted { $0.value < $1.value }.map(\.key)
  }

  mutating func add(_ name: [UInt8], isPattern: Bool) {
    begun += 1
    guard (isPattern ? patterns[name] : channels[name]) == nil else { return }
    if isPattern { patterns[name] = begun } else { channels[name] = begun }
    bytes += name.count
    if isPattern { patternCost += Glob.cost(ofLength: name.count) }
  }

  mutating func remove(_ name: [UInt8], isPattern: Bool) {
    let known = isPattern ? patterns.removeValue(forKey: name) : channels.removeValue(forKey: name)
    guard known != nil else { return }
    bytes -= name.count
    if isPattern { patternCost -= Glob.cost(ofLength: name.count) }
  }
}
