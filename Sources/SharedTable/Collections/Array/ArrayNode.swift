/// The nodes of a ``SharedArray``: a B+-tree whose inner nodes know how many elements lie below each child (an order
/// statistic tree; Cormen et al., Introduction to Algorithms, ch. "Augmenting data structures").
///
/// ```
/// leaf    level 0 u32 | count u32 | count × end of the element u32 | zeros up to a multiple of 16 | elements
/// inner   level u32   | count u32 | count × { child's number u64, elements below it u64 }
/// ```
/// An element begins at the next multiple of its type's alignment after the one before; ends are counted from the first
/// element. Whoever reads a node checks all of this, and trusts nothing that it says of others.
enum ArrayNode {
  case leaf(ArrayLeaf)
  case inner(ArrayInner)

  static let fingerprint = Fingerprint.named("SharedTable.ArrayNode")

  var bytes: [UInt8] {
    switch self {
    case .leaf(let leaf): leaf.bytes
    case .inner(let inner): inner.bytes
    }
  }
}
