/// A range of neighbouring frames, counted over all units, that is to be free as a whole.
struct FrameWindow {
  let frames: Range<Int>

  /// The superframes that it touches: what is a slab among them must be emptied whole.
  var superframes: Range<Int> { frames.lowerBound / 4..<(frames.upperBound + 3) / 4 }
}

extension Allocator {
  /// Is every frame of the window free?
  func isFree(_ window: FrameWindow) -> Bool { window.frames.allSatisfy(isFree(frame:)) }

  // Of superframes counted over all units.
  func kind(_ superframe: Int) -> Int {
    kind(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
  func nibble(_ superframe: Int) -> UInt64 {
    nibble(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
  func usedBlocks(_ superframe: Int) -> Int {
    usedBlocks(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }
}
