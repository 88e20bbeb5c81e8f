/// Nodes that have become small are joined with a neighbour, so that an array that shrinks gives its room back.
extension ArrayTree {
  /// Joins a child that has become small with a neighbour, if both together leave room in a node.
  ///
  /// So that no two neighbours below one node are less than half full together, unless one between them has gone because it was empty, or the
  /// table had no room for both in one.
  func joinSmall(
    _ index: Int, of children: inout [ArrayInner.Child], _ level: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) {
    guard try isSmall(children[index], level, edit, in: tx) else { return }
    for left in [index, index - 1] {
      if try join(left, of: &children, level, &edit, in: tx) { return }
    }
  }

  /// Joins a child with the next one, if there is one, both together leave room in a node, and the change joins nodes.
  /// - Returns: whether it did.
  func join(
    _ left: Int, of children: inout [ArrayInner.Child], _ level: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) -> Bool {
    guard edit.joinsNodes, left >= 0, left + 1 < children.count,
      let joined = try joined(children[left], children[left + 1], level, edit, in: tx)
    else { return false }
    edit.hasJoined = true
    edit.nodes[children[left].id] = .some(joined)
    edit.nodes[children[left + 1].id] = .some(nil)
    children[left].count += children[left + 1].count
    children.remove(at: left + 1)
    return true
  }

  private func isSmall(
    _ child: ArrayInner.Child, _ level: Int, _ edit: Edit, in tx: borrowing Transaction
  ) throws(TableError) -> Bool {
    switch try node(child, level, edit, in: tx) {
    case .leaf(let leaf): leaf.count <= limits.leafElements / 2 && leaf.data.count <= limits.leafBytes / 2
    case .inner(let inner): inner.children.count <= limits.children / 2
    }
  }

  /// Both nodes as one, if that is at most three quarters full.
  private func joined(
    _ left: ArrayInner.Child, _ right: ArrayInner.Child, _ level: Int, _ edit: Edit, in tx: borrowing Transaction
  ) throws(TableError) -> ArrayNode? {
    if level == 0, left.count + right.count > limits.leafElements * 3 / 4 { return nil }
    switch (try node(left, level, edit, in: tx), try node(right, level, edit, in: tx)) {
    case (.leaf(var leaf), .leaf(let other)):
      guard leaf.data.count + other.data.count <= limits.leafBytes * 3 / 4 else { return nil }
      leaf.append(other)
      return .leaf(leaf)
    case (.inner(let inner), .inner(let other)):
      let children = inner.children + other.children
      return children.count <= limits.children * 3 / 4 ? .inner(ArrayInner(level: level, children: children)) : nil
    default: throw damaged(right.id)
    }
  }
}
