/// How much each reader keeps from being reused, for reports. Counted without W while writers go on: each word may be
/// of another moment, and what does not look like an entry is left out. The caller is in a section of its own, or the
/// memory could be given back to the system meanwhile.
struct ReaderCosts {
  let state: WriterState

  /// What a slot announces, as far as it keeps memory from being reused.
  private struct Reader {
    let slot: Int
    /// The oldest version that it may reach.
    let version: UInt64
    /// It has not fixed its snapshot: it may need every version from the announced one on.
    let isPending: Bool
    let pin: UInt64
  }

  private var data: MappedMemory { state.data }
  private var ctl: MappedMemory { state.ctl }

  /// Bytes by slot. A block that several keep is counted with the one at the oldest version.
  func bytes(bySlots held: [Int]) -> [Int: Int] {
    guard state.variant == .rcu else { return [:] }
    let readers = held.compactMap(reader).sorted { $0.version < $1.version }
    guard !readers.isEmpty else { return [:] }
    var costs: [Int: Int] = [:]
    countLimbo(readers, &costs)
    let (retained, superseded) = (state.retained, state.superseded)
    walk(retained) { counter in
      let entry = Int(truncatingIfNeeded: retained.word(counter, RetainedRing.entry) & ~1)
      count(entry: entry, supersededAt: .max, readers, &costs)
    }
    walk(superseded) { counter in
      guard superseded.word(counter, SupersededRing.newer) & 1 == 0 else { return }
      count(entry: superseded.block(counter).offset, supersededAt: superseded.stamp(counter), readers, &costs)
    }
    return costs
  }

  private func reader(_ slot: Int) -> Reader? {
    let offset = state.slots.offset(slot)
    let snapshot = ctl.loadAcquire(offset + SlotLayout.snapshot)
    let pin = ctl.loadAcquire(offset + SlotLayout.pin)
    if snapshot == SlotWord.idle {
      // Its thread is entering or leaving a section: the pin keeps what is in limbo, but no version is needed.
      return pin == SlotWord.idle ? nil : Reader(slot: slot, version: .max, isPending: false, pin: pin)
    }
    if SlotWord.isEvicted(snapshot), pin == SlotWord.idle { return nil }
    let isPending = SlotWord.isPending(snapshot)
    let version = snapshot & SlotWord.versionMask
    return Reader(slot: slot, version: version, isPending: isPending, pin: isPending ? min(version, pin) : pin)
  }

  /// Counts what limbo holds for the reader with the oldest pin: that pin alone keeps all that has a later stamp.
  private func countLimbo(_ readers: [Reader], _ costs: inout [Int: Int]) {
    guard let oldest = readers.min(by: { $0.pin < $1.pin }), oldest.pin != SlotWord.idle else { return }
    var bytes = 0
    let limbo = state.limbo
    walk(limbo) { counter in
      let block = limbo.block(counter)
      guard SizeClasses.isCode(block.code) else { return }
      if limbo.stamp(counter) > oldest.pin { bytes += min(block.byteCount, state.geometry.capacityBytes) }
    }
    if bytes > 0 { costs[oldest.slot, default: 0] += bytes }
  }

  /// Each of a ring's records. A writer may move head and tail between the loads, so there are at most as many as the ring
  /// has places.
  private func walk(_ ring: Ring, _ body: (UInt64) -> Void) {
    let head = ring.head
    let count = Int(truncatingIfNeeded: ring.tail &- head)
    guard count > 0 else { return }
    for index in 0..<min(count, ring.maximumRecords) { body(head &+ UInt64(index)) }
  }

  /// Counts a superseded entry for the reader at the oldest version that sees it. A record of *retained* does not say
  /// which version superseded the entry: it is counted for the first reader at the entry's version or a later one. If
  /// that one does not see the entry, no later reader does.
  private func count(
    entry: Int, supersededAt newer: UInt64, _ readers: [Reader], _ costs: inout [Int: Int]
  ) {
    let places = blockPlaces
    guard places.mayHoldEntry(at: entry) else { return }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    let version = data.loadRelaxed(entry + Entry.version)
    guard meta.byteCount <= state.geometry.capacityBytes, let code = places.code(ofEntry: entry, meta, data),
      let reader = readers.first(where: { $0.version < newer && ($0.isPending || version <= $0.version) })
    else { return }
    costs[reader.slot, default: 0] += SizeClasses.byteCount(code: code)
  }

  private var blockPlaces: BlockPlaces {
    BlockPlaces(geometry: state.geometry, end: Int(clamping: data.loadAcquire(DataLayout.publishedBytes)))
  }
}
