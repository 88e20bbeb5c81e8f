/// How a table is made.
public struct SegmentOptions: Sendable, Equatable {
  public var variant: Variant
  /// Bytes for entries and index, rounded up to whole MiB; at least 1 MiB.
  public var capacityBytes: Int
  /// Permission bits of the data object. Who may write it may also write the control object; nobody else sees that.
  public var mode: UInt32
  public var owner: UInt32?
  public var group: UInt32?
  /// What readers may keep from being reused, in bytes, before `stalledReaderPolicy` applies.
  public var limboBudgetBytes: Int
  public var stalledReaderPolicy: StalledReaderPolicy
  /// Claim all pages at creation and give none back: a later write never finds the file system full.
  public var preallocate: Bool
  /// What the table is for: a mirror, or nothing in particular.
  public var features: TableFeatures = []
  /// Overwrite blocks when they become free, in every process that uses the table: for tests, which see a use after
  /// free by it.
  package var poisonsFreedBlocks = false

  public init(
    variant: Variant = .rcu, capacityBytes: Int = 64 << 20, mode: UInt32 = 0o600, owner: UInt32? = nil,
    group: UInt32? = nil, limboBudgetBytes: Int? = nil, stalledReaderPolicy: StalledReaderPolicy = .evict,
    preallocate: Bool = false
  ) {
    self.variant = variant
    self.capacityBytes = capacityBytes
    self.mode = mode
    self.owner = owner
    self.group = group
    self.limboBudgetBytes = limboBudgetBytes ?? max(256 << 10, capacityBytes / 4)
    self.stalledReaderPolicy = stalledReaderPolicy
    self.preallocate = preallocate
  }

  /// - Throws: `notPermitted` for a mode that gives more than the protocol can keep.
  public func check() throws(EngineError) {
    guard mode & ~0o666 == 0, mode & 0o600 == 0o600, mode & 0o002 == 0 else {
      throw .notPermitted(
        "mode \(String(mode, radix: 8)): the owner needs read and write, others at most read, nobody execute")
    }
    guard mode & 0o020 == 0 || mode & 0o040 != 0 else {
      throw .notPermitted("mode \(String(mode, radix: 8)): who may write must also read")
    }
    guard capacityBytes >= Geometry.minimumCapacity else {
      throw .notPermitted("capacity \(capacityBytes): at least \(Geometry.minimumCapacity) bytes")
    }
    guard capacityBytes <= Geometry.maximumCapacity else {
      throw .notPermitted("capacity \(capacityBytes): at most \(Geometry.maximumCapacity) bytes")
    }
    guard limboBudgetBytes >= 0 else { throw .notPermitted("limbo budget \(limboBudgetBytes): at least 0 bytes") }
  }

  /// Participants need to write *ctl*; who may only read *data* gets nothing of it.
  var controlMode: UInt32 { 0o600 | (mode & 0o020 != 0 ? 0o060 : 0) }
}

/// The two objects' names for a table's.
public enum ObjectName {
  public static let prefix = "shmtable."
  public static let controlSuffix = ".ctl"
  public static let dataSuffix = ".data"
  /// NAME_MAX less prefix and suffix.
  public static let maximumLength = 200

  static func control(_ table: String) -> String { prefix + table + controlSuffix }
  static func data(_ table: String) -> String { prefix + table + dataSuffix }

  /// The table that an object of this name belongs to; nil if to none.
  public static func table(ofObject object: String) -> String? {
    for suffix in [dataSuffix, controlSuffix] where object.hasPrefix(prefix) && object.hasSuffix(suffix) {
      let table = String(object.dropFirst(prefix.count).dropLast(suffix.count))
      if isValid(table) { return table }
    }
    return nil
  }

  /// Letters, digits and `. _ - @ : +`; 1 to 200 bytes; not starting with a dot.
  public static func isValid(_ table: String) -> Bool {
    let bytes = table.utf8
    guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= maximumLength else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: ":"),
        UInt8(ascii: "+"):
        true
      default: false
      }
    }
  }
}
