/// Removal of many elements as one change: each node that loses some is worked out once, and stored once.
///
/// One by one, each removal would store its leaf, the nodes above and the header again, and what a barrier has superseded it does not
/// use again before it commits: to remove most of a large array would take many times the array's own room.
extension ArrayTree {
  /// Removes the elements at `indices`, which ascend and are there.
  @usableFromInline
  func remove<Indices: BidirectionalCollection<Int>>(
    _ indices: Indices, in tx: inout Transaction
  ) throws(TableError) where Indices.SubSequence == Indices {
    if indices.isEmpty { return }
    let before = try state(in: tx)
    let rooted = indices.prefix { $0 < before.rooted }
    let others = indices[rooted.endIndex...]
    try change(before, joiningNodes: true, in: &tx) { edit, tx throws(TableError) in
      if !others.isEmpty {
        var leaf = try leaf(.init(id: before.tail, count: before.tailCount), in: tx)
        leaf.remove(others, first: before.rooted)
        try setTail(leaf, &edit, in: tx)
      }
      if !rooted.isEmpty {
        let root = ArrayInner.Child(id: edit.state.root, count: edit.state.rooted)
        let top = try remove(rooted, below: root, edit.state.level, first: 0, &edit, in: tx)
        edit.state.rooted -= rooted.count
        setTop(top, &edit)
        try lowerRoot(&edit, in: tx)
      }
    }
  }

  /// As ``remove(_:in:)``, for elements below one node.
  /// - Parameter first: the index of the first element below it.
  /// - Returns: what takes the node's place: itself, several nodes, or none.
  private func remove<Indices: BidirectionalCollection<Int>>(
    _ indices: Indices, below node: ArrayInner.Child, _ level: Int, first: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) -> [ArrayInner.Child] where Indices.SubSequence == Indices {
    switch try self.node(node, level, edit, in: tx) {
    case .leaf(var leaf):
      // A damaged tree may lead to a node that this change has already made smaller, or on another level.
      guard leaf.count == node.count, level == 0 else { throw damaged(node.id) }
      leaf.remove(indices, first: first)
      return store(leaf, as: node.id, &edit)
    case .inner(let inner):
      guard inner.count == node.count, inner.level == level else { throw damaged(node.id) }
      let children = try remove(indices, from: inner, first: first, &edit, in: tx)
      return store(children, as: node.id, level: level, &edit)
    }
  }

  /// - Returns: what takes the place of the node's children. Two neighbours of which one has changed are joined, if both together
  ///   leave room in a node.
  private func remove<Indices: BidirectionalCollection<Int>>(
    _ indices: Indices, from inner: ArrayInner, first: Int, _ edit: inout Edit, in tx: borrowing Transaction
  ) throws(TableError) -> [ArrayInner.Child] where Indices.SubSequence == Indices {
    var children: [ArrayInner.Child] = []
    var (rest, first) = (indices, first)
    var isLastChanged = false
    for child in inner.children {
      let below = rest.prefix { $0 < first + child.count }
      rest = rest[below.endIndex...]
      var new = [child]
      if !below.isEmpty {
        new = try remove(below, below: child, inner.level - 1, first: first, &edit, in: tx)
        isLastChanged = true
      }
      for child in new {
        children.append(child)
        guard isLastChanged else { continue }
        let isJoined = try join(children.count - 2, of: &children, inner.level - 1, &edit, in: tx)
        isLastChanged = isJoined || !below.isEmpty
      }
      first += child.count
    }
    return children
  }
}
