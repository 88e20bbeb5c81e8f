/// A range of neighbouring frames, counted over all units, that is to be free as a whole.
struct FrameWindow {
  let frames: Range<Int>

  /// The superframes that it touches: what is a slab among them must be emptied whole.
  var superframes: Range<Int> {
    let count = Geometry.framesPerSuperframe
    return frames.lowerBound / count..<(frames.upperBound + count - 1) / count
  }

  /// Counted over all units, as the superframe is.
  static func frames(ofSuperframe superframe: Int) -> Range<Int> {
    superframe * Geometry.framesPerSuperframe..<(superframe + 1) * Geometry.framesPerSuperframe
  }
}

extension Allocator {
  /// Is every frame of the window free?
  func isFree(_ window: FrameWindow) -> Bool { window.frames.allSatisfy(isFree(frame:)) }

  // Of superframes counted over all units.
  func kind(_ superframe: Int) -> Int {
    kind(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
  func isFree(superframe: Int) -> Bool {
    isFree(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
  func freeFrames(_ superframe: Int) -> UInt64 {
    freeFrames(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
  func usedBlocks(_ superframe: Int) -> Int {
    usedBlocks(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
}
