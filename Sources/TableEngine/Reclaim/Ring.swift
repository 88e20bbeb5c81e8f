import CShims

/// A queue of records in *ctl* that grows by doubling, and shrinks while it is empty. Changed under W only. Reports read it without W, and believe
/// nothing of it.
///
/// Positions are counters that never wrap; a record lies at `counter & mask`. `head` and `tail` move last, each in
/// one store, so a death leaves records that do not count, never half-counted ones. Its header is `struct shm_ring` in
/// `shm_format.h`.
struct Ring {
  let ctl: MappedMemory
  let header: Int
  let region: Int
  let recordBytes: Int
  let maximumRecords: Int

  static let initialRecords = SHM_RING_INITIAL_RECORDS

  var head: UInt64 { ctl.loadRelaxed(header &+ shm_ring_head_offset) }
  var tail: UInt64 { ctl.loadRelaxed(header &+ shm_ring_tail_offset) }
  var mask: UInt64 { ctl.loadRelaxed(header &+ shm_ring_mask_offset) }
  var freeEnd: UInt64 { ctl.loadRelaxed(header &+ shm_ring_free_end_offset) }
  var bytesPushed: UInt64 { ctl.loadRelaxed(header &+ shm_ring_bytes_pushed_offset) }
  var bytesPopped: UInt64 { ctl.loadRelaxed(header &+ shm_ring_bytes_popped_offset) }
  var bytesPoppedAfter: UInt64 { ctl.loadRelaxed(header &+ shm_ring_bytes_popped_after_offset) }
  var count: Int { Int(truncatingIfNeeded: tail &- head) }
  var bytes: Int { Int(truncatingIfNeeded: bytesPushed &- bytesPopped) }

  func setHead(_ value: UInt64) { ctl.storeRelease(header &+ shm_ring_head_offset, value) }
  func setTail(_ value: UInt64) { ctl.storeRelease(header &+ shm_ring_tail_offset, value) }
  func setFreeEnd(_ value: UInt64) { ctl.storeRelease(header &+ shm_ring_free_end_offset, value) }
  func setBytesPushed(_ value: UInt64) { ctl.storeRelaxed(header &+ shm_ring_bytes_pushed_offset, value) }
  func setBytesPopped(_ value: UInt64) { ctl.storeRelaxed(header &+ shm_ring_bytes_popped_offset, value) }
  func setBytesPoppedAfter(_ value: UInt64) { ctl.storeRelaxed(header &+ shm_ring_bytes_popped_after_offset, value) }

  /// Control offset of the record with this counter.
  @inline(__always)
  func position(_ counter: UInt64) -> Int { position(counter, mask) }

  /// As ``position(_:)``, for a caller that has loaded the mask.
  @inline(__always)
  func position(_ counter: UInt64, _ mask: UInt64) -> Int {
    region &+ Int(truncatingIfNeeded: counter & mask) &* recordBytes
  }

  /// The records from this counter up to the returned one lie side by side. The returned one lies at the ring's beginning.
  func endOfNeighbours(_ counter: UInt64) -> UInt64 { (counter | mask) &+ 1 }

  func word(_ counter: UInt64, _ field: Int) -> UInt64 { ctl.loadRelaxed(position(counter) &+ field) }

  /// Of limbo and of *superseded*, whose records both begin with a block and its stamp; in *retained* the stamp is there too.
  func block(_ counter: UInt64) -> BlockRef { BlockRef(raw: word(counter, LimboRing.block)) }
  func stamp(_ counter: UInt64) -> UInt64 { word(counter, LimboRing.stamp) }

  /// Allocates the first records' pages. By the creator, and by a repair.
  func initialize(_ backing: BackingPages) throws(EngineError) {
    try backing.allocateControl(offset: region, count: Self.initialRecords * recordBytes)
    ctl.storeRelaxed(header &+ shm_ring_mask_offset, UInt64(Self.initialRecords - 1))
  }

  /// Forgets all records. Its size stays.
  func clear() {
    ctl.zero(header, count: shm_ring_mask_offset)
    ctl.zero(header + shm_ring_free_end_offset, count: MemoryLayout<shm_ring>.size - shm_ring_free_end_offset)
  }

  /// Makes sure that `extra` more records fit behind the tail.
  ///
  /// Doubling copies the records whose place changes to places that were outside the ring, then publishes the new
  /// mask: until that store the old ring is whole, after it the new one is.
  /// - Throws: `full(.barrier)` at the ring's limit, `full(.fileSystem)` when pages cannot be had.
  @inline(__always)
  func reserve(_ extra: Int, _ backing: BackingPages) throws(EngineError) {
    // The mask is one less than what the ring holds: to add the one would cost each write an instruction. At the border grow(by:_:) finds that
    // there is room.
    if count &+ extra > Int(truncatingIfNeeded: mask) { try grow(by: extra, backing) }
  }

  private func grow(by extra: Int, _ backing: BackingPages) throws(EngineError) {
    while count + extra > Int(mask) + 1 {
      let records = Int(mask) + 1
      guard records * 2 <= maximumRecords else { throw .full(.barrier) }
      try backing.allocateControl(offset: region + records * recordBytes, count: records * recordBytes)
      let newMask = UInt64(records * 2 - 1)
      var counter = head
      while counter != tail {
        if counter & newMask != counter & mask {
          for word in stride(from: 0, to: recordBytes, by: 8) {
            ctl.storeRelaxed(
              region + Int(counter & newMask) * recordBytes + word,
              ctl.loadRelaxed(region + Int(counter & mask) * recordBytes + word))
          }
        }
        counter &+= 1
      }
      ctl.storeRelease(header &+ shm_ring_mask_offset, newMask)
    }
  }

  // MARK: - Shrinking

  /// Has the ring grown, and is it empty now?
  var isTooLarge: Bool { count == 0 && mask >= UInt64(Self.initialRecords) }

  /// Makes it as small as it was at first, if nothing is in it. The pages stay until ``spareRegion`` is given back.
  func shrink() {
    if isTooLarge { ctl.storeRelease(header &+ shm_ring_mask_offset, UInt64(Self.initialRecords - 1)) }
  }

  /// The part of its region behind the records that it has room for now, as offsets in *ctl*.
  var spareRegion: Range<Int> {
    region + (Int(truncatingIfNeeded: mask) + 1) * recordBytes..<region + maximumRecords * recordBytes
  }
}
