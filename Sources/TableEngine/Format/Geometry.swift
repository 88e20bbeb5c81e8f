import CShims

/// Where everything lies in a table of a given capacity. Equal for every process: a pure function of the
/// capacity and the constants that the layout hash covers.
public final class Geometry: Sendable {
  public static let unitBytes = SHM_UNIT_BYTES
  static let framesPerUnit = SHM_FRAMES_PER_UNIT
  static let framesPerSuperframe = SHM_FRAMES_PER_SUPERFRAME
  static let superframesPerUnit = SHM_SUPERFRAMES_PER_UNIT
  public static let minimumCapacity = 1 << 20
  public static let maximumCapacity = 1 << 42

  /// Bytes for entries and index, rounded up to whole units.
  public let capacityBytes: Int
  public let unitCount: Int
  public let logBytes: Int
  public let unitsOffset: Int
  /// The longest value that a table of this capacity takes: ``Entry/maximumValueLength(capacityBytes:)``.
  public let maximumValueLength: Int
  /// Size of the data object once fully grown, and of its mapping.
  public let dataBytes: Int

  // ctl
  public let slotCount: Int
  let summaryWords: Int
  let summaryTopWords: Int
  package let summaryOffset: Int
  /// A word for each unit, and one for every 64: see ``RunBounds``.
  let runBoundsOffset: Int
  let fixedControlBytes: Int
  package let descriptorsOffset: Int
  package let journalOffset: Int
  let journalBytes: Int
  package let limboOffset: Int
  package let limboRecords: Int
  package let supersededOffset: Int
  package let retainedOffset: Int
  let supersededRecords: Int
  public let controlBytes: Int

  /// - Parameter capacityBytes: between ``minimumCapacity`` and ``maximumCapacity``.
  public init(capacityBytes requested: Int) {
    unitCount = (requested + Self.unitBytes - 1) / Self.unitBytes
    capacityBytes = unitCount * Self.unitBytes
    logBytes = min(64 << 20, max(256 << 10, nextPowerOfTwo(capacityBytes / 64)))
    unitsOffset = roundUp(DataLayout.log + logBytes, to: SizeClasses.slabBytes)
    maximumValueLength = Entry.maximumValueLength(capacityBytes: capacityBytes)
    dataBytes = unitsOffset + capacityBytes

    slotCount = ControlLayout.slotCount
    summaryWords = (unitCount + 63) / 64
    summaryTopWords = (summaryWords + 63) / 64
    summaryOffset = ControlLayout.slots + slotCount * ControlLayout.slotBytes
    let summaries = Summary.count * (summaryWords + summaryTopWords) * 8
    runBoundsOffset = summaryOffset + summaries
    fixedControlBytes = roundUp(runBoundsOffset + (unitCount + summaryWords) * 8, to: 4096)
    descriptorsOffset = fixedControlBytes
    journalOffset = roundUp(descriptorsOffset + unitCount * UnitLayout.byteCount, to: 1 << 16)
    journalBytes = max(1 << 20, capacityBytes / 2)
    limboOffset = journalOffset + roundUp(journalBytes, to: 1 << 16)
    limboRecords = nextPowerOfTwo(max(4096, capacityBytes / 64))
    supersededOffset = limboOffset + limboRecords * LimboRing.recordBytes
    supersededRecords = limboRecords
    retainedOffset = supersededOffset + supersededRecords * SupersededRing.recordBytes
    controlBytes = roundUp(retainedOffset + supersededRecords * RetainedRing.recordBytes, to: 4096)
  }

  /// Where each region that depends on the capacity begins, and how large it is: for the layout hash.
  var regions: [(name: StaticString, value: Int)] {
    [
      ("logBytes", logBytes), ("unitsOffset", unitsOffset), ("dataBytes", dataBytes),
      ("summaryOffset", summaryOffset), ("summaryWords", summaryWords), ("summaryTopWords", summaryTopWords),
      ("runBoundsOffset", runBoundsOffset),
      ("descriptorsOffset", descriptorsOffset), ("journalOffset", journalOffset), ("journalBytes", journalBytes),
      ("limboOffset", limboOffset), ("limboRecords", limboRecords), ("supersededOffset", supersededOffset),
      ("supersededRecords", supersededRecords), ("retainedOffset", retainedOffset), ("controlBytes", controlBytes),
    ]
  }

  /// What a table claims of /dev/shm that is made with `preallocate`: about so much, and no more.
  public var preallocatedBytes: Int { dataBytes + journalOffset + Self.mostRingBytes }

  /// Of the rings and the journal as they begin.
  private static let mostRingBytes = 320 << 10

  /// Data offset of a unit's first byte.
  @inline(__always)
  func unitOffset(_ unit: Int) -> Int { unitsOffset &+ unit &* Self.unitBytes }

  /// Control offset of a unit's descriptor.
  @inline(__always)
  func descriptor(_ unit: Int) -> Int { descriptorsOffset &+ unit &* UnitLayout.byteCount }
}
