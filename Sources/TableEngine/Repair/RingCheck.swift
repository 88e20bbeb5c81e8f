import CShims

/// Rings, allocator and change log.
extension TableCheck {
  mutating func walkLimbo() {
    let limbo = writer.limbo
    guard limbo.isSound else { return note("limbo's positions cannot be") }
    expect(limbo.freeEnd <= limbo.head, "a free pass was begun and not finished")
    var bytes = 0
    var last: UInt64 = 0
    var counter = limbo.head
    while counter != limbo.tail {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(counter)))
      let stamp = ctl.loadRelaxed(limbo.position(counter) + 8)
      expect(stamp >= last && stamp <= writer.committed, "limbo's stamp \(stamp) follows \(last) (I1)")
      last = stamp
      if claim(block, .limbo) { bytes += block.byteCount }
      counter &+= 1
    }
    expect(bytes == limbo.bytes, "limbo holds \(bytes) bytes but counts \(limbo.bytes)")
  }

  /// I7: every superseded entry and every tombstone is recorded once, and nothing else is.
  mutating func walkGarbage() {
    var last: UInt64 = 0
    forEachRecord(writer.superseded) { check, record in
      let version = check.data.loadRelaxed(Int(truncatingIfNeeded: record & ~1) + Entry.version)
      check.expect(version >= last, "*superseded* goes back from version \(last) to \(version)")
      last = version
      let named = Int(truncatingIfNeeded: record & ~1)
      check.note(record & 1 != 0 ? named : Int(truncatingIfNeeded: check.data.loadRelaxed(named + Entry.prev)))
    }
    forEachRecord(writer.retained) { check, record in check.note(Int(truncatingIfNeeded: record & ~1)) }
    var bytes = 0
    for entry in garbage {
      bytes += writer.block(ofEntry: entry).byteCount
      let count = recorded[entry] ?? 0
      expect(count == 1, "gc would meet the superseded entry at \(entry) \(count) times (I7)")
    }
    for entry in recorded.keys where !garbage.contains(entry) {
      expect(false, "gc would meet the entry at \(entry), which is not superseded (I7)")
    }
    let counted = ctl.loadRelaxed(ControlLayout.garbageBytes)
    expect(counted == UInt64(bytes), "superseded versions take \(bytes) bytes but count \(counted)")
  }

  mutating func forEachRecord(_ ring: Ring, _ body: (inout TableCheck, UInt64) -> Void) {
    guard ring.isSound else { return note("the positions of the superseded versions' ring cannot be") }
    var counter = ring.head
    while counter != ring.tail {
      let record = ctl.loadRelaxed(ring.position(counter))
      if owners[Int(truncatingIfNeeded: record & ~1)]?.owner == .entry {
        body(&self, record)
      } else {
        expect(false, "gc would look at \(record & ~1), where no reachable entry is (I7)")
      }
      counter &+= 1
    }
  }

  mutating func note(_ entry: Int) { recorded[entry, default: 0] += 1 }
}

// MARK: - Allocator and log

extension TableCheck {
  /// I6, the other way round: whatever is marked in use has an owner.
  mutating func compareAllocator() {
    for unit in 0..<allocator.unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          compareFrames(unit, superframe)
          // The next slab made of it would begin with these.
          for word in 0..<(UnitLayout.usedBytesPerSlab / 8) {
            expect(
              ctl.loadRelaxed(allocator.usedBits(unit, superframe) + word * 8) == 0,
              "superframe \(superframe) of unit \(unit) is no slab and has blocks in use: leaked (I6)")
          }
        } else if kind <= SizeClasses.sizes.count {
          compareSlab(unit, superframe, sizeClass: kind - 1)
        } else {
          expect(false, "superframe \(superframe) of unit \(unit) is of the impossible kind \(kind)")
        }
      }
    }
  }

  mutating func compareFrames(_ unit: Int, _ superframe: Int) {
    let free = allocator.nibble(unit, superframe)
    for bit in 0..<4 where free & (1 << UInt64(bit)) == 0 {
      let frame = unit * Geometry.framesPerUnit + superframe * 4 + bit
      expect(usedFrames.contains(frame), "frame \(frame) is marked in use and nobody's: leaked (I6)")
    }
  }

  mutating func compareSlab(_ unit: Int, _ superframe: Int, sizeClass: Int) {
    let start = geometry.unitOffset(unit) + superframe * SizeClasses.slabBytes
    let used = allocator.usedBits(unit, superframe)
    for index in 0..<(UnitLayout.usedBytesPerSlab * 8) where ctl.bit(index, at: used) {
      let offset = start + index * SizeClasses.sizes[sizeClass]
      let owner = index < SizeClasses.blocksPerSlab(sizeClass) ? owners[offset] : nil
      expect(owner?.block.code == sizeClass, "the block at \(offset) is marked in use and nobody's: leaked (I6)")
    }
  }

  /// Hints are supersets: room that no hint claims would never be found.
  mutating func checkHints() {
    for unit in 0..<allocator.unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          let free = allocator.nibble(unit, superframe)
          expect(free == 0 || allocator.claims(Summary.freeFrame, unit), "unit \(unit) hides free frames")
          expect(free != 0xf || allocator.claims(Summary.freeSuperframe, unit), "unit \(unit) hides superframes")
        } else if kind <= SizeClasses.sizes.count, allocator.hasRoom(unit, superframe, sizeClass: kind - 1) {
          let hint = ctl.bit(superframe, at: geometry.descriptor(unit) + UnitLayout.partial + (kind - 1) * 8)
          expect(hint && allocator.claims(kind - 1, unit), "unit \(unit) hides room in slab \(superframe)")
        }
      }
    }
  }

  func walkLog() {
    if let flaw = writer.log.flaw(committed: writer.committed) { note("the change log \(flaw)") }
  }
}

extension ChangeLog {
  func isSound(committed: UInt64) -> Bool { flaw(committed: committed) == nil }

  /// What is wrong with it; nil if nothing is.
  fileprivate func flaw(committed: UInt64) -> String? {
    guard endPosition >= tailPosition, endPosition - tailPosition <= UInt64(byteCount), tailPosition % 16 == 0 else {
      return "ends at \(endPosition) and begins at \(tailPosition)"
    }
    var position = tailPosition
    var records: UInt64 = 0
    var last: UInt64 = 0
    while position < endPosition {
      let place = DataLayout.log + Int(position % UInt64(byteCount))
      let version = data.loadRelaxed(place)
      let header = data.loadRelaxed(place + 8)
      guard Self.byteCount(header) >= 16, header & 15 == 0, let operation = Self.operation(header) else {
        return "holds no record at \(position)"
      }
      guard Self.lowOrdinal(header) == (tailOrdinal &+ records) & Self.ordinalMask else {
        return "holds a record of another ordinal at \(position)"
      }
      guard version >= last, version <= committed else { return "goes from version \(last) to \(version)" }
      last = version
      guard Self.lowOrdinal(header) == (tailOrdinal &+ records) & Self.ordinalMask else {
        return "holds a record at \(position) that bears another ordinal"
      }
      if operation != .padding { records += 1 }
      position += Self.byteCount(header)
    }
    if position != endPosition { return "passes its end" }
    let counted = endOrdinal &- tailOrdinal
    return records == counted ? nil : "holds \(records) records but counts \(counted)"
  }
}

extension Allocator {
  /// Does the summary, on both its levels, say that the unit has some?
  fileprivate func claims(_ which: Int, _ unit: Int) -> Bool {
    let base = geometry.summaryOffset + which * (geometry.summaryWords + geometry.summaryTopWords) * 8
    return ctl.bit(unit, at: base) && ctl.bit(unit / 64, at: base + geometry.summaryWords * 8)
  }

  fileprivate func hasRoom(_ unit: Int, _ superframe: Int, sizeClass: Int) -> Bool {
    let used = usedBits(unit, superframe)
    return (0..<SizeClasses.blocksPerSlab(sizeClass)).contains { !ctl.bit($0, at: used) }
  }
}
