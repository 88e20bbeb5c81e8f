import CShims
import Glibc
import TableEngine

/// Changes of one element: in one leaf's bytes where that is enough, else by way of an ``Edit``.
extension ArrayTree {
  @usableFromInline
  func append(_ element: UnsafeRawBufferPointer, timeout: Duration?) throws(TableError) {
    let tree = unsafe Uncounted(self)
    try place.withDirectBarrier(timeout) { barrier throws(TableError) -> Void? in
      guard let tail = self.tail(in: barrier) else { return nil }
      return try unsafe withKey(tail) { key throws(TableError) in
        try unsafe appendToLeaf(key, element, committing: barrier) ? () : nil
      }
    } generally: { tx throws(TableError) in
      try tree.with { tree throws(TableError) in try unsafe tree.append(element, in: &tx) }
    }
  }

  /// Appends an element to a leaf that has room for it.
  /// - Returns: false with nothing done, and the barrier open, if it has none, or something is wrong.
  @inline(never)
  private func appendToLeaf(
    _ key: UnsafeRawBufferPointer, _ element: UnsafeRawBufferPointer, committing barrier: DirectBarrier
  ) throws(TableError) -> Bool {
    let hash = unsafe table.segment.hash(key)
    guard let old = unsafe table.locate(key, hash: hash, in: barrier), let node = node(old.entry, 0),
      let change = ArrayLeafChange(node, node.count..<node.count, length: element.count, alignment: alignment),
      limits.admitLeaf(change.count, change.dataBytes), change.byteCount <= table.maximumValueLength
    else { return false }
    try unsafe table.replace(old, byteCount: change.byteCount, committing: barrier) {
      unsafe change.write(element, to: $0)
    }
    return true
  }

  @usableFromInline
  func append(_ element: UnsafeRawBufferPointer, in tx: inout Transaction) throws(TableError) {
    let state = try stateOfHeader(inBarrier: tx)
    if state.tail > 0 {
      let isAppended = try unsafe withKey(state.tail) { key throws(TableError) in
        try unsafe changeLeaf(state.tail, key, nil, element, state, in: &tx)
      }
      if isAppended { return }
    }
    try checkLength(element.count)
    try beginTail(with: unsafe ArrayLeaf(bytes: element, alignment: alignment), in: &tx)
  }

  @usableFromInline
  func set(_ element: UnsafeRawBufferPointer, at index: Int, timeout: Duration?) throws(TableError) {
    let tree = unsafe Uncounted(self)
    try place.withBarrier(timeout) { tx throws(TableError) in
      try tree.with { tree throws(TableError) in try unsafe tree.set(element, at: index, in: &tx) }
    }
  }

  @usableFromInline
  func set(_ element: UnsafeRawBufferPointer, at index: Int, in tx: inout Transaction) throws(TableError) {
    let state = try stateOfHeader(inBarrier: tx)
    let (leaf, place) = try place(of: index, state, in: tx)
    let isSet = try unsafe withKey(leaf) { key throws(TableError) in
      try unsafe changeLeaf(leaf, key, place, element, state, in: &tx)
    }
    if isSet { return }
    try checkLength(element.count)
    try replace(index..<index + 1, with: unsafe ArrayLeaf(bytes: element, alignment: alignment), in: &tx)
  }

  /// Puts an element in the place of another or, without an index, behind the last one.
  ///
  /// Inlined into both: an append needs a good part of it only.
  /// - Parameter key: the leaf's.
  /// - Returns: false if the leaf cannot take it; nothing has happened.
  @inline(__always)
  private func changeLeaf(
    _ leaf: Int, _ key: UnsafeRawBufferPointer, _ index: Int?, _ element: UnsafeRawBufferPointer, _ state: State,
    in tx: inout Transaction
  ) throws(TableError) -> Bool {
    let hash = unsafe table.segment.hash(key)
    guard let found = try unsafe tx.find(key, hash: hash) else { throw damaged(leaf) }
    let node = try node(found, leaf, 0)
    if let index { try checkTail(leaf, index, node.count, state) }
    let range = index.map { $0..<$0 + 1 } ?? node.count..<node.count
    guard let change = ArrayLeafChange(node, range, length: element.count, alignment: alignment) else {
      throw damaged(leaf)
    }
    guard limits.admitLeaf(change.count, change.dataBytes), change.byteCount <= table.maximumValueLength else {
      return false
    }
    // A leaf below a node that gets smaller may have to join a neighbour.
    if leaf != state.tail, change.shrinkage > 0 { return false }
    guard try unsafe store(change, element, key, hash, in: &tx) else { throw damaged(leaf) }
    return true
  }

  /// - Throws: `outOfBounds` if the leaf is the tail, and has no element of that index.
  func checkTail(_ leaf: Int, _ index: Int, _ count: Int, _ state: State) throws(TableError) {
    if leaf == state.tail, index >= count { throw outOfBounds(state.rooted + index, state.rooted + count) }
  }

  /// - Returns: false if the leaf is not there.
  @inline(__always)
  private func store(
    _ change: ArrayLeafChange, _ element: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ hash: UInt64,
    in tx: inout Transaction
  ) throws(TableError) -> Bool {
    // Nothing with a closure: its errors would have to be carried out of it, which costs as much as the copying.
    let scratch = unsafe change.byteCount <= SHM_SCRATCH_BYTES ? shm_thread_scratch() : nil
    let leaf = unsafe scratch ?? malloc(change.byteCount)!
    defer { if unsafe scratch == nil { unsafe free(leaf) } }
    unsafe change.write(element, to: leaf)
    let bytes = unsafe UnsafeRawBufferPointer(start: leaf, count: change.byteCount)
    return try unsafe tx.replace(key, hash: hash, bytes, nodeForm)
  }
}
