/// The part of *data*'s header that never changes, checked before anything else of the object is believed.
struct DataHeader {
  let variant: Variant
  let uuid: (UInt64, UInt64)
  let capacityBytes: Int
  let hashSeed: UInt64
  let features: TableFeatures

  init(
    variant: Variant, uuid: (UInt64, UInt64), capacityBytes: Int, hashSeed: UInt64, features: TableFeatures
  ) {
    self.variant = variant
    self.uuid = uuid
    self.capacityBytes = capacityBytes
    self.hashSeed = hashSeed
    self.features = features
  }

  /// Reads and checks a header. The same fields lie at the same offsets in *ctl*.
  /// - Throws: `notATable`, `incompatible`, `irreparable`.
  init(_ memory: MappedMemory, object: String) throws(EngineError) {
    // PAIR magic. Other end: DataHeader.write. Acquire: what comes after it was stored before it.
    guard memory.loadAcquire(DataLayout.magic) == DataLayout.magicValue else {
      throw .notATable("\(object) does not begin with a table's magic number")
    }
    let word = memory.loadRelaxed(DataLayout.versionAndVariant)
    let version = UInt32(truncatingIfNeeded: word)
    guard version == DataLayout.version else {
      throw .incompatible("its layout version is \(version), this program's is \(DataLayout.version)")
    }
    guard memory.loadRelaxed(DataLayout.layoutHash) == LayoutHash.value else {
      throw .incompatible("its layout differs from this program's (same version, other constants)")
    }
    guard let variant = Variant(rawValue: UInt32(truncatingIfNeeded: word >> 32)) else {
      throw .irreparable("its variant is unknown")
    }
    let capacity = memory.loadRelaxed(DataLayout.capacity)
    guard capacity >= UInt64(Geometry.minimumCapacity), capacity <= UInt64(Geometry.maximumCapacity),
      capacity % UInt64(Geometry.unitBytes) == 0
    else { throw .irreparable("its capacity reads \(capacity)") }
    self.variant = variant
    uuid = (memory.loadRelaxed(DataLayout.uuid), memory.loadRelaxed(DataLayout.uuid + 8))
    capacityBytes = Int(capacity)
    hashSeed = 0
    features = []
  }

  init(data: MappedMemory) throws(EngineError) {
    let common = try DataHeader(data, object: "its data object")
    features = TableFeatures(rawValue: data.loadRelaxed(DataLayout.features))
    guard features.isSubset(of: .known) else {
      throw .incompatible("it uses features (\(features.rawValue)) that this program does not know")
    }
    variant = common.variant
    uuid = common.uuid
    capacityBytes = common.capacityBytes
    hashSeed = data.loadRelaxed(DataLayout.hashSeed)
  }

  /// Writes what both objects have in common; the magic number last.
  func write(to memory: MappedMemory) {
    memory.storeRelaxed(DataLayout.versionAndVariant, UInt64(DataLayout.version) | UInt64(variant.rawValue) << 32)
    memory.storeRelaxed(DataLayout.layoutHash, LayoutHash.value)
    memory.storeRelaxed(DataLayout.uuid, uuid.0)
    memory.storeRelaxed(DataLayout.uuid + 8, uuid.1)
    memory.storeRelaxed(DataLayout.capacity, UInt64(capacityBytes))
    // PAIR magic. Other end: DataHeader.init. Release: whoever finds it finds what is above.
    memory.storeRelease(DataLayout.magic, DataLayout.magicValue)
  }
}
