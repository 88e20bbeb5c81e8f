/// What a node of a ``SharedArray`` may hold before it is split. The process that writes decides; readers take nodes of any size.
struct ArrayLimits: Sendable {
  var leafElements = 128
  var leafBytes = 8192
  var children = 128

  /// May a leaf have so many elements in so many bytes? One that is alone may be of any length.
  func admitLeaf(_ elements: Int, _ bytes: Int) -> Bool {
    elements <= leafElements && (bytes <= leafBytes || elements <= 1)
  }

  /// More levels than any array can have whose nodes have two children each.
  static var levels: Int { 48 }
}
