import CShims

/// A queue of records in *ctl* that grows by doubling and never shrinks. Used under W only.
///
/// Positions are counters that never wrap; a record lies at `counter & mask`. `head` and `tail` move last, each in
/// one store, so a death leaves records that do not count, never half-counted ones.
///
/// ```
/// 0 head   8 tail   16 mask   24 freeEnd   32 bytes pushed   40 bytes popped   48 bytes popped after the free pass
/// ```
struct Ring {
  let ctl: Memory
  let header: Int
  let region: Int
  let recordBytes: Int
  let maximumRecords: Int

  static let initialRecords = 512

  var head: UInt64 { ctl.loadRelaxed(header) }
  var tail: UInt64 { ctl.loadRelaxed(header + 8) }
  var mask: UInt64 { ctl.loadRelaxed(header + 16) }
  var freeEnd: UInt64 { ctl.loadRelaxed(header + 24) }
  var bytesPushed: UInt64 { ctl.loadRelaxed(header + 32) }
  var bytesPopped: UInt64 { ctl.loadRelaxed(header + 40) }
  var bytesPoppedAfter: UInt64 { ctl.loadRelaxed(header + 48) }
  var count: Int { Int(truncatingIfNeeded: tail &- head) }
  var bytes: Int { Int(truncatingIfNeeded: bytesPushed &- bytesPopped) }

  func setHead(_ value: UInt64) { ctl.storeRelease(header, value) }
  func setTail(_ value: UInt64) { ctl.storeRelease(header + 8, value) }
  func setFreeEnd(_ value: UInt64) { ctl.storeRelease(header + 24, value) }
  func setBytesPushed(_ value: UInt64) { ctl.storeRelaxed(header + 32, value) }
  func setBytesPopped(_ value: UInt64) { ctl.storeRelaxed(header + 40, value) }
  func setBytesPoppedAfter(_ value: UInt64) { ctl.storeRelaxed(header + 48, value) }

  /// Control offset of the record with this counter.
  @inline(__always)
  func position(_ counter: UInt64) -> Int { region &+ Int(truncatingIfNeeded: counter & mask) &* recordBytes }

  func word(_ counter: UInt64, _ index: Int) -> UInt64 { ctl.loadRelaxed(position(counter) &+ index &* 8) }

  /// Of limbo and of *superseded*, whose records both begin with a block and its stamp.
  func block(_ counter: UInt64) -> BlockRef { BlockRef(raw: word(counter, 0)) }
  func stamp(_ counter: UInt64) -> UInt64 { word(counter, 1) }

  /// Allocates the first records' pages. Called once, by the creator.
  func initialize(_ backing: Backing) throws(EngineError) {
    try backing.allocateControl(offset: region, count: Self.initialRecords * recordBytes)
    ctl.storeRelaxed(header + 16, UInt64(Self.initialRecords - 1))
  }

  /// Makes sure that `extra` more records fit behind the tail.
  ///
  /// Doubling copies the records whose place changes to places that were outside the ring, then publishes the new
  /// mask: until that store the old ring is whole, after it the new one is.
  /// - Throws: `full(.barrier)` at the ring's limit, `full(.fileSystem)` when pages cannot be had.
  @inline(__always)
  func reserve(_ extra: Int, _ backing: Backing) throws(EngineError) {
    if count &+ extra > Int(truncatingIfNeeded: mask) { try grow(by: extra, backing) }
  }

  private func grow(by extra: Int, _ backing: Backing) throws(EngineError) {
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
      ctl.storeRelease(header + 16, newMask)
    }
  }
}
