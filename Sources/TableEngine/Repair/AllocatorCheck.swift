/// Checks the allocator's bitmaps and hints against who uses each block.
struct AllocatorCheck {
  private let state: WriterState
  private let owners: BlockOwners
  private let problems: Problems

  init(_ state: WriterState, _ owners: BlockOwners, _ problems: Problems) {
    self.state = state
    self.owners = owners
    self.problems = problems
  }

  private var ctl: MappedMemory { state.ctl }
  private var geometry: Geometry { state.geometry }
  private var allocator: Allocator { state.allocator }

  func run() {
    compareAllocator()
    checkHints()
  }

  /// I6, the other way round: whatever is marked in use has an owner.
  private func compareAllocator() {
    for unit in 0..<allocator.unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          compareFrames(unit, superframe)
          // The next slab made of it would begin with these bits set.
          for word in 0..<(UnitLayout.usedBytesPerSlab / 8) {
            problems.expect(
              ctl.loadRelaxed(allocator.usedBits(unit, superframe) + word * 8) == 0,
              "superframe \(superframe) of unit \(unit) is no slab and has blocks in use: leaked (I6)")
          }
        } else if kind <= SizeClasses.count {
          compareSlab(unit, superframe, sizeClass: kind - 1)
        } else {
          problems.expect(false, "superframe \(superframe) of unit \(unit) is of the impossible kind \(kind)")
        }
      }
    }
  }

  private func compareFrames(_ unit: Int, _ superframe: Int) {
    let free = allocator.freeFrames(unit, superframe)
    for bit in 0..<Geometry.framesPerSuperframe where free & (1 << UInt64(bit)) == 0 {
      let frame = unit * Geometry.framesPerUnit + superframe * Geometry.framesPerSuperframe + bit
      problems.expect(owners.usedFrames.contains(frame), "frame \(frame) is marked in use and nobody's: leaked (I6)")
      let owner = owners.block(geometry.unitsOffset + frame * SizeClasses.frameBytes)
      problems.expect(
        allocator.isRunStart(frame) == ((owner?.code ?? 0) >= SizeClasses.runCode),
        "frame \(frame) is wrongly marked as the first of a run, or not marked")
    }
  }

  private func compareSlab(_ unit: Int, _ superframe: Int, sizeClass: Int) {
    let start = geometry.unitOffset(unit) + superframe * SizeClasses.slabBytes
    let used = allocator.usedBits(unit, superframe)
    for index in 0..<(UnitLayout.usedBytesPerSlab * 8) where ctl.bit(index, at: used) {
      let offset = start + index * SizeClasses.size(sizeClass)
      let owner = index < SizeClasses.blocksPerSlab(sizeClass) ? owners.block(offset) : nil
      problems.expect(owner?.code == sizeClass, "the block at \(offset) is marked in use and nobody's: leaked (I6)")
    }
  }

  /// Hints are supersets: room that no hint tells of would never be found. A group of no units would lead a search into the hints of the
  /// next kind.
  private func checkHints() {
    for which in 0..<Summary.count {
      problems.expect(allocator.unitHints.areOfUnits(which), "hints of kind \(which) tell of units that cannot be")
    }
    for unit in 0..<allocator.unitCount {
      problems.expect(
        allocator.runBounds.isLarge(unit, for: allocator.longestRun(from: unit)),
        "unit \(unit) hides a run of free frames")
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          let free = allocator.freeFrames(unit, superframe)
          problems.expect(
            free != Allocator.allFrames || allocator.unitHints.isSet(Summary.freeSuperframe, unit),
            "unit \(unit) hides superframes")
        } else if kind <= SizeClasses.count,
          allocator.usedBlocks(unit, superframe) < SizeClasses.blocksPerSlab(kind - 1)
        {
          let hint = ctl.bit(superframe, at: geometry.descriptor(unit) + UnitLayout.partial + (kind - 1) * 8)
          problems.expect(
            hint && allocator.unitHints.isSet(kind - 1, unit), "unit \(unit) hides room in slab \(superframe)")
        }
      }
    }
  }
}
