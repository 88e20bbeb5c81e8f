import CShims
import Glibc
import TableEngine

/// Changes of one element: in one leaf's bytes where that is enough, else by way of an ``Edit`` or of a new tail.
extension ArrayTree {
  @usableFromInline
  func append(_ element: UnsafeRawBufferPointer, timeout: Duration?) throws(TableError) {
    let tree = unsafe UncountedReference(self)
    try place.withDirectBarrier(timeout) { barrier throws(TableError) -> Void? in
      guard let header = header(in: barrier), header.state.tail > 0 else { return nil }
      return try unsafe changeLeaf(header.tailKey, header.tailHash, nil, element, inTail: true, barrier)
    } generally: { tx throws(TableError) in
      try tree.with { tree throws(TableError) in try unsafe tree.append(element, in: &tx) }
    }
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
    try beginTail(with: unsafe ArrayLeaf(bytes: element, alignment: alignment), state, in: &tx)
  }

  @usableFromInline
  func set(_ element: UnsafeRawBufferPointer, at index: Int, timeout: Duration?) throws(TableError) {
    let tree = unsafe UncountedReference(self)
    try place.withDirectBarrier(timeout) { barrier throws(TableError) -> Void? in
      guard index >= 0, let header = header(in: barrier) else { return nil }
      let state = header.state
      if index >= state.rooted {
        guard state.tail > 0 else { return nil }
        return try unsafe setInLeaf(
          header.tailKey, header.tailHash, index - state.rooted, element, inTail: true, barrier)
      }
      let (leaf, place) = try unsafe descend(to: index, state) { key in
        unsafe table.find(key, hash: table.segment.hash(key), in: barrier)
      }
      return try unsafe withKey(leaf) { key throws(TableError) in
        try unsafe setInLeaf(key, table.segment.hash(key), place, element, inTail: false, barrier)
      }
    } generally: { tx throws(TableError) in
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

  // MARK: - One leaf

  @inline(never)
  private func setInLeaf(
    _ key: UnsafeRawBufferPointer, _ hash: UInt64, _ index: Int, _ element: UnsafeRawBufferPointer, inTail: Bool,
    _ barrier: DirectBarrier
  ) throws(TableError) -> Void? {
    try unsafe changeLeaf(key, hash, index, element, inTail: inTail, barrier)
  }

  /// Puts an element in the place of another or, without an index, behind the last one, and commits.
  /// - Returns: nil with nothing done, and the barrier open, if the leaf cannot take it, or something is wrong.
  @inline(__always)
  private func changeLeaf(
    _ key: UnsafeRawBufferPointer, _ hash: UInt64, _ index: Int?, _ element: UnsafeRawBufferPointer, inTail: Bool,
    _ barrier: DirectBarrier
  ) throws(TableError) -> Void? {
    guard let old = unsafe table.locate(key, hash: hash, in: barrier), let node = node(old.entry, 0),
      let change = change(node, index, element.count), isAdmitted(change, inTail: inTail)
    else { return nil }
    return try unsafe table.replace(old, byteCount: change.byteCount, committing: barrier) {
      unsafe change.write(element, to: $0)
    }
  }

  /// Nil if the leaf has no such index, or its ends contradict each other.
  @inline(__always)
  private func change(_ node: borrowing ArrayNodeSpan, _ index: Int?, _ length: Int) -> ArrayLeafChange? {
    if let index, index >= node.count { return nil }
    let range = index.map { $0..<$0 + 1 } ?? node.count..<node.count
    return ArrayLeafChange(node, range, length: length, alignment: alignment)
  }

  /// Whether a leaf may become so. One below a node that gets smaller may have to join a neighbour.
  @inline(__always)
  private func isAdmitted(_ change: ArrayLeafChange, inTail: Bool) -> Bool {
    limits.admitLeaf(change.count, change.dataBytes) && change.byteCount <= table.maximumValueLength
      && (inTail || change.shrinkage <= 0)
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
    guard let change = change(node, index, element.count) else { throw damaged(leaf) }
    guard isAdmitted(change, inTail: leaf == state.tail) else { return false }
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
