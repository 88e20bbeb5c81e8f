import SharedMemory

/// One number for everything two processes must agree on to share a table's bytes.
///
/// Computed from the constants themselves, so that a change of layout that forgets to raise the version is refused
/// all the same. FNV-1a (Fowler, Noll, Vo).
enum LayoutHash {
  static let value: UInt64 = fold(dataFields + controlFields + shapes)

  /// libc, machine and lock sizes: what participants must share besides, since they share pthread objects.
  static let fingerprint: UInt64 = {
    let host = HostFingerprint.current
    let text = "\(host.architecture) \(host.libcVersion) \(host.mutexByteCount) \(host.rwlockByteCount)"
    return fold(text.utf8.map { Int($0) })
  }()

  private static let dataFields = [
    DataLayout.capacity, DataLayout.hashSeed, DataLayout.features, DataLayout.committed, DataLayout.reclaimed,
    DataLayout.wseq, DataLayout.publishedBytes, DataLayout.logEndPosition, DataLayout.logTailPosition,
    DataLayout.keyCounts, DataLayout.keyCountSlots, DataLayout.root, DataLayout.rootBits, DataLayout.log,
    ChangeLog.headerBytes, ChangeLog.ordinalShift,
  ]
  private static let controlFields = [
    ControlLayout.ready, ControlLayout.fingerprint, ControlLayout.writerMutex, ControlLayout.journal,
    ControlLayout.limbo, ControlLayout.superseded, ControlLayout.retained, ControlLayout.units,
    ControlLayout.garbageBytes, ControlLayout.awaitedVersion, ControlLayout.barriersUnwaited,
    ControlLayout.barrierWaits,
    ControlLayout.barrierWaitBuckets, ControlLayout.rwlocks, ControlLayout.rwlockInstances,
    ControlLayout.rwlockBytes,
    ControlLayout.slots, ControlLayout.slotBytes, ControlLayout.slotCount, JournalLayout.garbageBytes,
    JournalLayout.recordBytes, Journal.Kind.allCases.count, SlotLayout.pin, SlotLayout.rw, SlotLayout.mutex,
    SlotLayout.light, SlotLayout.claim, SlotLayout.claimKeys, ControlLayout.claims,
    ControlLayout.claimStamp, ControlLayout.claimEvent, ControlLayout.claimSleepers,
    ControlLayout.barrierLabel, BarrierLabel.maximumByteCount, Int(truncatingIfNeeded: SlotWord.exact),
  ]
  private static let shapes =
    SizeClasses.sizes + [
      Entry.headerBytes, SubTable.bucketCount, SubTable.window, SubTable.maximumDepth, Geometry.unitBytes,
      SizeClasses.slabBytes, SizeClasses.frameBytes, UnitLayout.byteCount, LimboRing.recordBytes,
      SupersededRing.recordBytes, RetainedRing.recordBytes, ControlLayout.chainsCutAt,
      Int(truncatingIfNeeded: EntryMeta(keyLength: 2, valueLength: 3, type: 4, tombstone: true).raw),
      Int(BucketWord.tag(hash: 0)),
    ]

  private static func fold(_ values: [Int]) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for value in values {
      for shift in stride(from: 0, to: 64, by: 8) {
        hash = (hash ^ (UInt64(truncatingIfNeeded: value) >> UInt64(shift) & 0xff)) &* 0x0000_0100_0000_01b3
      }
    }
    return hash
  }
}
