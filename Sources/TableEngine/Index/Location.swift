/// Where a key is in the index, or where it could go.
struct Location {
  /// Offset of the bucket word that holds the key, or 0.
  var wordOffset = 0
  /// That word's content.
  var word: UInt64 = 0
  /// A bucket word that may take the key, or 0: then the sub-table must make room first.
  var vacancy = 0
  /// Last sub-table searched, and whether it is deep.
  var subTable = 0
  var deep = false

  /// Offset of the bucket word that holds the key or may take it.
  @inline(__always)
  var place: Int { wordOffset != 0 ? wordOffset : vacancy }
}
