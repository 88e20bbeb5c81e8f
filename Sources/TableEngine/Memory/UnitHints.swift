/// Which units have room, one bit a unit and kind of room: the two levels above the units' descriptors.
///
/// Hints are supersets of the truth: a bit is set before something becomes free, and cleared after a search found nothing.
/// So a search proves what a hint says, and a death between two stores hides no room.
struct UnitHints {
  let ctl: MappedMemory
  let geometry: Geometry
  let work: WorkCounters

  private var unitCount: Int { Int(clamping: ctl.loadRelaxed(ControlLayout.units)) }

  private func words(_ which: Int) -> Int {
    geometry.summaryOffset &+ which &* (geometry.summaryWords &+ geometry.summaryTopWords) &* 8
  }

  @inline(__always)
  func set(_ which: Int, _ unit: Int) {
    let base = words(which)
    // A unit's bit never stands without its group's, which is set before and cleared after it.
    if ctl.bit(unit, at: base) { return }
    ctl.setBit(unit / 64, at: base + geometry.summaryWords * 8)
    crashFence()
    ctl.setBit(unit, at: base)
  }

  func clear(_ which: Int, _ unit: Int) {
    let base = words(which)
    ctl.clearBit(unit, at: base)
    crashFence()
    if ctl.loadRelaxed(base + unit / 64 * 8) == 0 { ctl.clearBit(unit / 64, at: base + geometry.summaryWords * 8) }
  }

  /// Does the hint stand, on both its levels?
  func isSet(_ which: Int, _ unit: Int) -> Bool {
    let base = words(which)
    return ctl.bit(unit, at: base) && ctl.bit(unit / 64, at: base + geometry.summaryWords * 8)
  }

  /// Is there no hint of a unit beyond the capacity, nor of a group without units? For checks.
  func areOfUnits(_ which: Int) -> Bool {
    let (units, groups) = (geometry.unitCount % 64, geometry.summaryWords % 64)
    let end = words(which) + (geometry.summaryWords + geometry.summaryTopWords) * 8
    return (units == 0 || ctl.loadRelaxed(words(which) + (geometry.summaryWords - 1) * 8) >> UInt64(units) == 0)
      && (groups == 0 || ctl.loadRelaxed(end - 8) >> UInt64(groups) == 0)
  }

  /// The unit's own bit alone.
  func isUnitSet(_ which: Int, _ unit: Int) -> Bool { ctl.bit(unit, at: words(which)) }

  /// The lowest unit with this hint, by two levels of find-first-set.
  func firstUnit(with which: Int) -> Int? {
    let base = words(which)
    let top = base + geometry.summaryWords * 8
    for topWord in 0..<geometry.summaryTopWords {
      var groups = ctl.loadRelaxed(top + topWord * 8)
      while groups != 0 {
        let group = topWord * 64 + groups.trailingZeroBitCount
        work.bitmapWords += 1
        var bits = ctl.loadRelaxed(base + group * 8)
        // A hint of a unit whose growth a death cut short is a lie until the next growth.
        while bits != 0 {
          let unit = group * 64 + bits.trailingZeroBitCount
          if unit >= unitCount {
            ctl.clearBit(unit, at: base)
            bits &= bits - 1
            continue
          }
          return unit
        }
        ctl.clearBit(group, at: top)
        groups &= groups - 1
      }
    }
    return nil
  }
}
