/// Byte offsets in a unit's descriptor (ctl).
package enum UnitLayout {
  static let frameFree = 0
  static let kind = 32
  static let partial = 96
  static let used = partial + SizeClasses.maximumCount * 8
  static let usedBytesPerSlab = 64
  /// Which frames are the first of a run. Meaningful for frames in use alone.
  static let runStart = used + Geometry.superframesPerUnit * usedBytesPerSlab
  package static let byteCount = runStart + 32
}
