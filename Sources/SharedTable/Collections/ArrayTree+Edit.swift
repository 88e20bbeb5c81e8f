/// Changes of an array: worked out on copies of the few nodes that they touch, then stored all together.
extension ArrayTree {
  /// The nodes that a change has read and changed; nil is a removed one.
  struct Edit {
    var state: State
    var nodes: [Int: ArrayNode?] = [:]
    /// Whether elements come in at the end, where more will follow.
    var isAppending = false
    /// Whether nodes may become smaller.
    var isShrinking = false

    mutating func newID() -> Int {
      defer { state.next += 1 }
      return state.next
    }
  }

  /// Puts the elements of `run` in place of `range`, which is empty or one element.
  ///
  /// Touches the nodes from the root to one leaf, and on each level at most two neighbours; further ones only for what
  /// `run` fills.
  func replace(_ range: Range<Int>, with run: ArrayLeaf, in tx: inout Transaction) throws(TableError) {
    let before = try state(in: tx)
    var edit = Edit(state: before)
    edit.isAppending = range.lowerBound == before.count
    edit.isShrinking = !range.isEmpty
    var top: [ArrayInner.Child]
    if before.count == 0 {
      top = store(run, &edit)
    } else {
      let root = ArrayInner.Child(id: before.root, count: before.count)
      top = try replace(range, with: run, below: root, before.level, &edit, in: tx)
    }
    while top.count > 1 {
      edit.state.level += 1
      top = store(top, level: edit.state.level, &edit)
    }
    edit.state.count += run.count - range.count
    if let root = top.first {
      edit.state.root = root.id
      try lowerRoot(&edit, in: tx)
    } else {
      edit.state.root = 0
      edit.state.level = 0
    }
    try write(edit, in: &tx)
  }

  /// The same below one node.
  /// - Returns: what takes the node's place: itself, several nodes, or none.
  private func replace(
    _ range: Range<Int>, with run: ArrayLeaf, below node: ArrayInner.Child, _ level: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) -> [ArrayInner.Child] {
    if level == 0 {
      var leaf = try leaf(node, in: tx)
      leaf.replace(range, with: run)
      return store(leaf, as: node.id, &edit)
    }
    var children = try inner(node, level: level, in: tx).children
    var index = 0
    var before = 0
    // An insertion between two children goes to the end of the first.
    while range.lowerBound - before > children[index].count - range.count {
      before += children[index].count
      index += 1
    }
    let inside = range.lowerBound - before..<range.upperBound - before
    let place = try replace(inside, with: run, below: children[index], level - 1, &edit, in: tx)
    children.replaceSubrange(index...index, with: place)
    if edit.isShrinking, place.count == 1 { try join(index, of: &children, level - 1, &edit, in: tx) }
    return store(children, as: node.id, level: level, &edit)
  }

  // MARK: - Joining

  /// Joins a child that has become small with a neighbour, if both together leave room in a node.
  ///
  /// So that no two neighbours below one node are less than half full together.
  private func join(
    _ index: Int, of children: inout [ArrayInner.Child], _ level: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) {
    guard try isSmall(children[index], level, edit, in: tx) else { return }
    for left in [index, index - 1] where left >= 0 && left + 1 < children.count {
      guard let joined = try joined(children[left], children[left + 1], level, edit, in: tx) else { continue }
      edit.nodes[children[left].id] = .some(joined)
      edit.nodes[children[left + 1].id] = .some(nil)
      children[left].count += children[left + 1].count
      children.remove(at: left + 1)
      return
    }
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

  /// A node as this change leaves it.
  private func node(
    _ child: ArrayInner.Child, _ level: Int, _ edit: Edit, in tx: borrowing Transaction
  ) throws(TableError) -> ArrayNode {
    if let node = edit.nodes[child.id] ?? nil { return node }
    if level == 0 { return .leaf(try leaf(child, in: tx)) }
    return .inner(try inner(child, level: level, in: tx))
  }

  /// A root with a single child is none.
  private func lowerRoot(_ edit: inout Edit, in tx: borrowing Transaction) throws(TableError) {
    while edit.state.level > 0 {
      let root = ArrayInner.Child(id: edit.state.root, count: edit.state.count)
      guard case .inner(let inner) = try node(root, edit.state.level, edit, in: tx), inner.children.count == 1
      else { return }
      edit.nodes[root.id] = .some(nil)
      edit.state.root = inner.children[0].id
      edit.state.level -= 1
    }
  }

  // MARK: - Storing

  /// Makes leaves of a run; the first one is `id`.
  private func store(_ run: ArrayLeaf, as id: Int? = nil, _ edit: inout Edit) -> [ArrayInner.Child] {
    var id = id
    if let id, run.count == 0 { edit.nodes[id] = .some(nil) }
    return run.leaves(limits, filling: edit.isAppending).map { leaf in
      let own = id ?? edit.newID()
      id = nil
      edit.nodes[own] = .leaf(leaf)
      return .init(id: own, count: leaf.count)
    }
  }

  /// Makes inner nodes for some children; the first one is `id`.
  private func store(
    _ children: [ArrayInner.Child], as id: Int? = nil, level: Int, _ edit: inout Edit
  ) -> [ArrayInner.Child] {
    var id = id
    if let id, children.isEmpty { edit.nodes[id] = .some(nil) }
    return ArrayInner.parts(children, most: limits.children, filling: edit.isAppending).map { part in
      let own = id ?? edit.newID()
      id = nil
      edit.nodes[own] = .inner(ArrayInner(level: level, children: part))
      return .init(id: own, count: part.reduce(0) { $0 + $1.count })
    }
  }

  private func write(_ edit: Edit, in tx: inout Transaction) throws(TableError) {
    let most = table.maximumValueLength
    let values = edit.nodes.sorted { $0.key < $1.key }.map { id, node in (id, node.map(ArrayNodeBytes.init)) }
    for case (_, let value?) in values where value.bytes.count > most {
      throw TableError(
        .tooLarge, table: table.name, "an element is too long for a table whose values have at most \(most) bytes")
    }
    try tx.withSavepoint { tx throws(TableError) in
      for (id, value) in values {
        try unsafe place.name.withNumberedKey(id) { key throws(TableError) in
          let key = unsafe RawKey(key)
          if let value { try tx.set(key, value) } else { try tx.remove(key) }
        }
      }
      let state = edit.state
      try place.setHeader([state.count, state.root, state.level, state.next], in: &tx)
    }
  }
}
