/// Can a crash have left what recovery finds? This is checked before anything is replayed: from a record that no crash
/// has left, recovery would write to a place that is not the journal's to change. Work grows with the transaction in
/// flight, as that of recovery does.
struct JournalCheck {
  let state: WriterState

  private var ctl: MappedMemory { state.ctl }
  private var geometry: Geometry { state.geometry }
  private var journal: Journal { state.journal }
  private var limbo: Ring { state.limbo }
  private var superseded: Ring { state.superseded }
  private var retained: Ring { state.retained }
  private var blockPlaces: BlockPlaces { state.blockPlaces }

  var isRecoverable: Bool {
    limbo.isSound && superseded.isSound && retained.isSound && state.allocator.unitCount <= geometry.unitCount
      && isFreePassPlausible(limbo) && isFreePassPlausible(superseded) && isJournalPlausible
  }

  /// The pass covers blocks that the ring holds.
  private func isFreePassPlausible(_ ring: Ring) -> Bool {
    guard ring.head < ring.freeEnd else { return true }
    guard ring.freeEnd <= ring.tail else { return false }
    var position = ring.head
    while position < ring.freeEnd {
      guard isBlock(ring.block(position)) else { return false }
      position += 1
    }
    return true
  }

  /// The journal is empty, or of the newest version or the one after it, within what was allocated for it, and each of
  /// its records names something that there is.
  private var isJournalPlausible: Bool {
    let count = ctl.loadRelaxed(ControlLayout.journal + JournalLayout.count)
    let allocated = ctl.loadRelaxed(ControlLayout.journalAllocated)
    guard allocated <= UInt64(geometry.journalBytes), count <= allocated / UInt64(JournalLayout.recordBytes) else {
      return false
    }
    guard count > 0 else { return true }
    guard journal.version == state.committed || journal.version == state.committed + 1 else { return false }
    var pushes = Pushes()
    for index in 0..<journal.count {
      guard isPlausible(journal[index]) else { return false }
      pushes.add(journal[index], state.variant)
    }
    return limbo.holds(journal.saved(JournalLayout.limboTail), max(pushes.undone, pushes.retired))
      && superseded.holds(journal.saved(JournalLayout.supersededTail), pushes.superseded)
      && retained.holds(journal.saved(JournalLayout.retainedTail), pushes.retained)
  }

  /// How many records the replay may push onto the rings; room for them was reserved.
  private struct Pushes {
    var undone: UInt64 = 0
    var retired: UInt64 = 0
    var superseded: UInt64 = 0
    var retained: UInt64 = 0

    mutating func add(_ record: Journal.Record, _ variant: Variant) {
      switch record.kind {
      case .allocate: undone += 1
      case .allocateTombstone:
        undone += 1
        superseded += 1
      case .put:
        if variant == .rcu { superseded += 1 } else { retired += 1 }
      case .retire: retired += 1
      case .retain: retained += 1
      case .discard:
        undone += 1
        retired += 1
      case .fill, .void, nil: break
      }
    }
  }

  private func isPlausible(_ record: Journal.Record) -> Bool {
    switch record.kind {
    case .allocate, .allocateTombstone, .retire, .discard: isBlock(record.block)
    case .put: isPlace(record.offset, 8) && isEntry(BucketWord.offset(record.value), orNone: true)
    case .fill: record.count > 0 && isPlace(record.offset, record.count * 8)
    case .retain: record.count <= 1 && isEntry(record.offset, orNone: false)
    case .void: true
    case nil: false
    }
  }

  /// May the words be an index's or an entry's?
  private func isPlace(_ offset: Int, _ count: Int) -> Bool {
    let root = DataLayout.root..<(DataLayout.root + 8 << DataLayout.rootBits)
    if root.contains(offset) { return offset + count <= root.upperBound }
    return offset >= geometry.unitsOffset && offset + count <= blockPlaces.end
  }

  private func isEntry(_ offset: Int, orNone: Bool) -> Bool {
    offset == 0 ? orNone : blockPlaces.mayHoldEntry(at: offset)
  }

  private func isBlock(_ block: BlockRef) -> Bool { blockPlaces.mayHoldBlock(at: block.offset, code: block.code) }
}

extension Ring {
  /// Its records lie where memory was allocated for them, and there are no more than places.
  var isSound: Bool {
    let records = mask &+ 1
    return records >= UInt64(Self.initialRecords) && records <= UInt64(maximumRecords) && records & mask == 0
      && tail &- head <= records
  }

  /// Could `count` records have been pushed from `position` on?
  func holds(_ position: UInt64, _ count: UInt64) -> Bool {
    position &- head <= tail &- head && position &- head &+ count <= mask &+ 1
  }
}
