import CShims

/// Who keeps how much from being reused: a look for people, without W and while everything goes on. So each word read
/// may be of another moment, and what does not look like an entry is left out.
extension Writer {
  private struct Keeping {
    let slot: Int
    /// The oldest version that it may reach.
    let version: UInt64
    /// It has not settled on a version: keeps all from its own on.
    let isPending: Bool
    let pin: UInt64
  }

  /// Bytes by slot. A block that several keep is counted with the one at the oldest version.
  func keptBytes(bySlots held: [Int]) -> [Int: Int] {
    guard variant == .rcu else { return [:] }
    let readers = held.compactMap(keeping).sorted { $0.version < $1.version }
    guard !readers.isEmpty else { return [:] }
    var kept: [Int: Int] = [:]
    keepsOfLimbo(readers, &kept)
    walk(retained) { record in
      count(entry: Int(truncatingIfNeeded: record & ~1), supersededAt: .max, readers, &kept)
    }
    walk(superseded) { record in
      let newer = Int(truncatingIfNeeded: record & ~1)
      guard record & 1 == 0, isPlausible(newer) else { return }
      count(
        entry: Int(truncatingIfNeeded: data.loadRelaxed(newer + Entry.prev)),
        supersededAt: data.loadRelaxed(newer + Entry.version), readers, &kept)
    }
    return kept
  }

  private func keeping(_ slot: Int) -> Keeping? {
    let offset = Slots(ctl: ctl, count: geometry.slotCount).offset(slot)
    let snapshot = ctl.loadAcquire(offset + SlotLayout.snapshot)
    let pin = ctl.loadAcquire(offset + SlotLayout.pin)
    if snapshot == SlotWord.idle {
      // On its way in or out: of the versions it wants none.
      return pin == SlotWord.idle ? nil : Keeping(slot: slot, version: .max, isPending: false, pin: pin)
    }
    if SlotWord.isEvicted(snapshot), pin == SlotWord.idle { return nil }
    let isPending = SlotWord.isPending(snapshot)
    let version = snapshot & SlotWord.versionMask
    return Keeping(slot: slot, version: version, isPending: isPending, pin: isPending ? min(version, pin) : pin)
  }

  /// Limbo is kept by the oldest pin alone, as far as its stamps are later.
  private func keepsOfLimbo(_ readers: [Keeping], _ kept: inout [Int: Int]) {
    guard let oldest = readers.min(by: { $0.pin < $1.pin }), oldest.pin != SlotWord.idle else { return }
    var bytes = 0
    for counter in records(limbo) {
      let position = limbo.position(counter)
      let block = BlockRef(raw: ctl.loadRelaxed(position))
      guard SizeClasses.isCode(block.code) else { continue }
      if ctl.loadRelaxed(position + 8) > oldest.pin { bytes += min(block.byteCount, geometry.capacityBytes) }
    }
    if bytes > 0 { kept[oldest.slot, default: 0] += bytes }
  }

  private func walk(_ ring: Ring, _ body: (UInt64) -> Void) {
    for counter in records(ring) { body(ctl.loadRelaxed(ring.position(counter))) }
  }

  /// The counters of a ring's records. A writer may move head and tail between the loads, so there are at most as many
  /// as the ring has places.
  private func records(_ ring: Ring) -> Range<UInt64> {
    let head = ring.head
    let count = Int(truncatingIfNeeded: ring.tail &- head)
    guard count > 0 else { return head..<head }
    let most = UInt64(ring.maximumRecords)
    let (end, overflows) = head.addingReportingOverflow(min(UInt64(count), most))
    return overflows ? head..<head : head..<end
  }

  /// Counts a superseded entry with the first reader that sees it. One in *retained* is seen by somebody, and if by
  /// anyone, then by the first that is not older than it: what hides it from that one hides it from the later ones.
  private func count(
    entry: Int, supersededAt newer: UInt64, _ readers: [Keeping], _ kept: inout [Int: Int]
  ) {
    guard isPlausible(entry) else { return }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    let version = data.loadRelaxed(entry + Entry.version)
    guard meta.byteCount <= geometry.capacityBytes,
      let reader = readers.first(where: { $0.version < newer && ($0.isPending || version <= $0.version) })
    else { return }
    kept[reader.slot, default: 0] += SizeClasses.byteCount(code: SizeClasses.code(byteCount: meta.byteCount))
  }

  private func isPlausible(_ entry: Int) -> Bool {
    entry >= geometry.unitsOffset && entry % 16 == 0
      && entry <= Int(clamping: data.loadAcquire(DataLayout.publishedBytes)) - Entry.headerBytes
  }
}
