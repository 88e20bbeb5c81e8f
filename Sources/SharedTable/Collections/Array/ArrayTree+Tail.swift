import TableEngine

/// The step from a full tail to the next one.
extension ArrayTree {
  /// Begins a new tail with one element. The old one, which has no room for it, goes below the root as it is.
  /// - Parameter header: what the header says.
  func beginTail(with run: ArrayLeaf, _ header: State, in tx: inout Transaction) throws(TableError) {
    var before = header
    if before.tail > 0 { before.tailCount = try withNode(before.tail, 0, in: tx) { node in node.count } }
    let old = ArrayInner.Child(id: before.tail, count: before.tailCount)
    if let path = try pathWithRoom(for: old, before, in: tx) {
      return try beginTail(with: run, before, storing: path, in: &tx)
    }
    var edit = Edit(state: before)
    edit.isAppending = true
    edit.state.tail = edit.newID()
    edit.state.tailCount = run.count
    edit.nodes[edit.state.tail] = .leaf(run)
    if before.tail > 0 { try add([old], &edit, in: tx) }
    try write(edit, before.header, in: &tx)
  }

  // MARK: - Where the lowest inner node has room

  /// An inner node with a leaf more below it.
  private struct GrownNode {
    let id: Int
    let bytes: [UInt8]
  }

  /// The nodes from the root to the last inner one above the leaves, as they are with one leaf more. Made of the stored bytes by copying:
  /// to take nodes apart and to put them together again takes three times as long, and is needed once in as many times as a node has
  /// children.
  /// - Returns: nil if there is no such node, or it has no room.
  private func pathWithRoom(
    for leaf: ArrayInner.Child, _ state: State, in tx: borrowing Transaction
  ) throws(TableError) -> [GrownNode]? {
    guard leaf.id > 0, state.level > 0 else { return nil }
    var path: [GrownNode] = []
    var node = ArrayInner.Child(id: state.root, count: state.rooted)
    for level in stride(from: state.level, to: 0, by: -1) {
      var hasRoom = true
      let last = try withNode(node.id, level, in: tx) { span throws(TableError) in
        guard span.countBelow == node.count else { throw damaged(node.id) }
        hasRoom = level > 1 || span.count < limits.children
        if hasRoom { path.append(GrownNode(id: node.id, bytes: span.bytes(with: leaf, asChild: level == 1))) }
        return span.lastChild
      }
      if !hasRoom { return nil }
      node = last
    }
    guard try withNode(node.id, 0, in: tx, { $0.count }) == node.count else { throw damaged(node.id) }
    return path
  }

  private func beginTail(
    with run: ArrayLeaf, _ before: State, storing path: [GrownNode], in tx: inout Transaction
  ) throws(TableError) {
    var after = before
    after.rooted += before.tailCount
    after.tail = before.next
    after.next += 1
    let leaf = ArrayNodeBytes(.leaf(run))
    guard leaf.bytes.count <= table.maximumValueLength,
      path.allSatisfy({ $0.bytes.count <= table.maximumValueLength })
    else { throw tooLong }
    try tx.withSavepoint { tx throws(TableError) in
      try unsafe withKey(after.tail) { key throws(TableError) in try tx.set(unsafe RawKey(key), leaf) }
      for node in path {
        let isStored = try unsafe withKey(node.id) { key throws(TableError) in
          try unsafe node.bytes.withTableBytes { bytes throws(TableError) in
            try unsafe tx.replace(key, hash: table.segment.hash(key), bytes, nodeForm)
          }
        }
        guard isStored else { throw damaged(node.id) }
      }
      try place.setHeader(after.header, in: &tx)
    }
  }
}

extension ArrayNodeSpan {
  /// The last child of an inner node that has one.
  fileprivate var lastChild: ArrayInner.Child {
    unsafe span.withUnsafeBytes { bytes in
      unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 16, as: ArrayInner.Child.self)
    }
  }

  /// An inner node's bytes with a leaf more below it: as its last child, or below that.
  fileprivate func bytes(with leaf: ArrayInner.Child, asChild: Bool) -> [UInt8] {
    let (old, oldCount) = (span, count)
    let length = old.byteCount + (asChild ? 16 : 0)
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { place, stored in
      let new = unsafe UnsafeMutableRawBufferPointer(start: place.baseAddress, count: length)
      unsafe old.withUnsafeBytes { unsafe new.copyMemory(from: $0) }
      if asChild {
        unsafe new.storeBytes(of: UInt32(oldCount + 1), toByteOffset: 4, as: UInt32.self)
        unsafe new.storeBytes(of: leaf, toByteOffset: length - 16, as: ArrayInner.Child.self)
      } else {
        let count = unsafe new.loadUnaligned(fromByteOffset: length - 8, as: Int.self)
        unsafe new.storeBytes(of: count + leaf.count, toByteOffset: length - 8, as: Int.self)
      }
      stored = length
    }
  }
}
