/// Byte offsets in a unit's descriptor (ctl).
package enum UnitLayout {
  static let frameFree = 0
  static let kind = 32
  static let partial = 96
  static let used = partial + SizeClasses.maximumCount * 8
  static let usedBytesPerSlab = 64
  package static let byteCount = used + Geometry.superframesPerUnit * usedBytesPerSlab
}
