/// Where a key is in the index, or where it could go.
struct Location {
  /// Offset of the bucket word that holds the key, or else of one that may take it; 0 if there is neither: then the sub-table must
  /// make room first.
  var place = 0
  /// That word's content. Where the key is not, it names no entry.
  var word: UInt64 = 0
  /// Last sub-table searched, and whether it is deep.
  var subTable = 0
  var deep = false
}
