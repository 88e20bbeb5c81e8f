/// Changes of an array: worked out on copies of the few nodes that they touch, then stored all together.
extension ArrayTree {
  /// The nodes that a change has read and changed; nil is a removed one.
  struct Edit {
    var state: State
    /// Whether nodes that are small after the change are joined with a neighbour.
    var joinsNodes = false
    /// Whether some were.
    var hasJoined = false
    var nodes: [Int: ArrayNode?] = [:]
    /// Whether elements come in at the end, where more will follow.
    var isAppending = false

    mutating func newID() -> Int {
      defer { state.next += 1 }
      return state.next
    }
  }

  /// Puts the elements of `run` in place of `range`, which is empty or one element.
  ///
  /// Touches the tail; or the nodes from the root to one leaf, and on each level at most two neighbours; further ones only
  /// for what `run` fills.
  @usableFromInline
  func replace(_ range: Range<Int>, with run: ArrayLeaf, in tx: inout Transaction) throws(TableError) {
    let before = try state(in: tx)
    // What replaces an element may be smaller.
    try change(before, joiningNodes: !range.isEmpty, in: &tx) { edit, tx throws(TableError) in
      edit.isAppending = range.lowerBound == before.count
      if range.lowerBound >= before.rooted {
        let inside = range.lowerBound - before.rooted..<range.upperBound - before.rooted
        return try replaceInTail(inside, with: run, &edit, in: tx)
      }
      let root = ArrayInner.Child(id: before.root, count: before.rooted)
      let top = try replace(range, with: run, below: root, before.level, &edit, in: tx)
      edit.state.rooted += run.count - range.count
      setTop(top, &edit)
      try lowerRoot(&edit, in: tx)
    }
  }

  /// Works a change out and stores it. If the table has no room and nodes were joined, once more without that: a node that takes the elements
  /// of another needs more room than before, and what a full table keeps back for replacements is for those that need no more. A later removal
  /// joins them.
  /// - Parameter body: works it out, and changes nothing in the table.
  func change(
    _ before: State, joiningNodes: Bool, in tx: inout Transaction,
    _ body: (inout Edit, borrowing Transaction) throws(TableError) -> Void
  ) throws(TableError) {
    var edit = Edit(state: before, joinsNodes: joiningNodes)
    try body(&edit, tx)
    do throws(TableError) {
      return try write(edit, before.header, in: &tx)
    } catch {
      guard error.code == .full, edit.hasJoined else { throw error }
    }
    edit = Edit(state: before)
    try body(&edit, tx)
    try write(edit, before.header, in: &tx)
  }

  /// As ``replace(_:with:in:)``, for elements of the tail: `range` counts from its first.
  private func replaceInTail(
    _ range: Range<Int>, with run: ArrayLeaf, _ edit: inout Edit, in tx: borrowing Transaction
  ) throws(TableError) {
    let tail = ArrayInner.Child(id: edit.state.tail, count: edit.state.tailCount)
    var leaf = tail.id > 0 ? try leaf(tail, in: tx) : ArrayLeaf(alignment: alignment)
    leaf.replace(range, with: run)
    try setTail(leaf, &edit, in: tx)
  }

  /// Makes a leaf the tail. What a tail cannot hold goes below the root.
  func setTail(_ leaf: ArrayLeaf, _ edit: inout Edit, in tx: borrowing Transaction) throws(TableError) {
    var leaves = store(leaf, as: edit.state.tail > 0 ? edit.state.tail : nil, &edit)
    let last = leaves.popLast()
    edit.state.tail = last?.id ?? 0
    edit.state.tailCount = last?.count ?? 0
    if !leaves.isEmpty { try add(leaves, &edit, in: tx) }
  }

  /// Adds leaves behind the last one of the tree.
  func add(
    _ leaves: [ArrayInner.Child], _ edit: inout Edit, in tx: borrowing Transaction
  ) throws(TableError) {
    if edit.state.root > 0 {
      let root = ArrayInner.Child(id: edit.state.root, count: edit.state.rooted)
      setTop(try add(leaves, below: root, edit.state.level, &edit, in: tx), &edit)
    } else {
      setTop(leaves, &edit)
    }
    edit.state.rooted += leaves.reduce(0) { $0 + $1.count }
  }

  /// Adds leaves behind the last one below a node.
  /// - Returns: what takes the node's place: itself, or several nodes.
  private func add(
    _ leaves: [ArrayInner.Child], below node: ArrayInner.Child, _ level: Int, _ edit: inout Edit,
    in tx: borrowing Transaction
  ) throws(TableError) -> [ArrayInner.Child] {
    if level == 0 {
      guard try withNode(node.id, 0, in: tx, { $0.count }) == node.count else { throw damaged(node.id) }
      return [node] + leaves
    }
    var children = try inner(node, level: level, in: tx).children
    let last = children.removeLast()
    children += try add(leaves, below: last, level - 1, &edit, in: tx)
    return store(children, as: node.id, level: level, &edit)
  }

  /// Makes a tree of the nodes of the highest level: one of them is the root, several get one.
  func setTop(_ nodes: [ArrayInner.Child], _ edit: inout Edit) {
    var top = nodes
    while top.count > 1 {
      edit.state.level += 1
      top = store(top, level: edit.state.level, &edit)
    }
    edit.state.root = top.first?.id ?? 0
    if top.isEmpty { edit.state.level = 0 }
  }

  /// As ``replace(_:with:in:)``, below one node: `range` counts from its first element.
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
    if edit.joinsNodes, place.count == 1 { try joinSmall(index, of: &children, level - 1, &edit, in: tx) }
    return store(children, as: node.id, level: level, &edit)
  }

  /// A node as this change leaves it.
  func node(
    _ child: ArrayInner.Child, _ level: Int, _ edit: Edit, in tx: borrowing Transaction
  ) throws(TableError) -> ArrayNode {
    if let node = edit.nodes[child.id] ?? nil { return node }
    if level == 0 { return .leaf(try leaf(child, in: tx)) }
    return .inner(try inner(child, level: level, in: tx))
  }

  /// A root with a single child is none.
  func lowerRoot(_ edit: inout Edit, in tx: borrowing Transaction) throws(TableError) {
    while edit.state.root > 0, edit.state.level > 0 {
      let root = ArrayInner.Child(id: edit.state.root, count: edit.state.rooted)
      guard case .inner(let inner) = try node(root, edit.state.level, edit, in: tx), inner.children.count == 1
      else { return }
      edit.nodes[root.id] = .some(nil)
      edit.state.root = inner.children[0].id
      edit.state.level -= 1
    }
  }

  // MARK: - Storing

  /// Makes leaves of a run; the first one is `id`.
  func store(_ run: ArrayLeaf, as id: Int? = nil, _ edit: inout Edit) -> [ArrayInner.Child] {
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
  func store(
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

  /// - Parameter header: as it is stored.
  func write(
    _ edit: Edit, _ header: CollectionHeader.Numbers, in tx: inout Transaction
  ) throws(TableError) {
    let most = table.maximumValueLength
    let values = edit.nodes.sorted { $0.key < $1.key }.map { id, node in (id, node.map(ArrayNodeBytes.init)) }
    for case (_, let value?) in values where value.bytes.count > most { throw tooLong }
    try tx.withSavepoint { tx throws(TableError) in
      for (id, value) in values {
        try unsafe withKey(id) { key throws(TableError) in
          let key = unsafe RawKey(key)
          if let value { try tx.set(key, value) } else { try tx.remove(key) }
        }
      }
      let new = edit.state.header
      let isOld = new.indices.allSatisfy { new[$0] == header[$0] }
      if !isOld { try place.setHeader(new, in: &tx) }
    }
  }

  /// Before an element is copied into a leaf, whose ends have 32 bits: no value of a table is as long as those reach.
  /// - Throws: `tooLarge` if no leaf of the table can hold it.
  func checkLength(_ length: Int) throws(TableError) {
    if length > table.maximumValueLength { throw tooLong }
  }

  var tooLong: TableError {
    TableError(
      .tooLarge, table: table.name,
      "an element of array '\(place.name.text)' is too long: it and its node must fit into a value of this table, which has at most "
        + "\(table.maximumValueLength) bytes; store shorter elements, or create the table with more capacity")
  }

  /// Removes all nodes and the header: the name is free for another type.
  @usableFromInline
  func removeAll(in tx: inout Transaction) throws(TableError) {
    var nodes: [Int] = []
    do throws(TableError) {
      guard try place.header(in: tx) != nil else { return }
      let state = try state(in: tx)
      if state.root > 0 { try collect(.init(id: state.root, count: state.rooted), state.level, &nodes, in: tx) }
      if state.tail > 0 { nodes.append(state.tail) }
    } catch {
      guard error.code == .damaged else { throw error }
      return try place.removeDamaged(in: &tx)
    }
    try tx.withSavepoint { tx throws(TableError) in
      for node in nodes {
        try unsafe withKey(node) { key throws(TableError) in _ = try tx.remove(unsafe RawKey(key)) }
      }
      try tx.remove(place.name.text)
    }
  }

  /// - Throws: `damaged`, also for a tree that leads to the same nodes again and again.
  private func collect(
    _ child: ArrayInner.Child, _ level: Int, _ nodes: inout [Int], in tx: borrowing Transaction
  ) throws(TableError) {
    nodes.append(child.id)
    guard nodes.count <= table.reachableBytes / 64 else { throw damaged(child.id) }
    if level == 0 { return }
    for below in try inner(child, level: level, in: tx).children { try collect(below, level - 1, &nodes, in: tx) }
  }
}
