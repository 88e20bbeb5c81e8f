/// Changes: one barrier each, or, with `in:`, part of one. If one throws, it changed nothing; a barrier whose closure
/// catches the error goes on as if it had not been tried.
extension SharedArray {
  /// Adds an element at the end.
  @inlinable
  public func append(_ element: Element, timeout: Duration? = nil) throws(TableError) {
    try unsafe element.withTableBytes { bytes throws(TableError) in try unsafe tree.append(bytes, timeout: timeout) }
  }

  /// Adds an element at the end, as part of a barrier; throws what the transaction throws.
  @inlinable
  public func append(_ element: Element, in tx: inout Transaction) throws(TableError) {
    try unsafe element.withTableBytes { bytes throws(TableError) in try unsafe tree.append(bytes, in: &tx) }
  }

  /// Appends many elements in one barrier: cheaper than one by one, and all of them or none.
  @inlinable
  public func append(contentsOf elements: some Sequence<Element>, timeout: Duration? = nil) throws(TableError) {
    // Encoded before the barrier, which holds up the others.
    let run = try ArrayLeaf(elements, for: tree)
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try append(run, in: &tx) }
  }

  /// Appends many elements as part of a barrier; throws what the transaction throws.
  @inlinable
  public func append(contentsOf elements: some Sequence<Element>, in tx: inout Transaction) throws(TableError) {
    try append(try ArrayLeaf(elements, for: tree), in: &tx)
  }

  @inlinable
  func append(_ run: ArrayLeaf, in tx: inout Transaction) throws(TableError) {
    let count = try count(in: tx)
    if run.count > 0 { try tree.replace(count..<count, with: run, in: &tx) }
  }

  /// Inserts an element before the one at an index; the count is an index here too.
  /// - Throws: `outOfBounds`.
  @inlinable
  public func insert(_ element: Element, at index: Int, timeout: Duration? = nil) throws(TableError) {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try insert(element, at: index, in: &tx) }
  }

  /// Inserts an element before the one at an index, as part of a barrier; throws what the transaction throws.
  @inlinable
  public func insert(_ element: Element, at index: Int, in tx: inout Transaction) throws(TableError) {
    let count = try count(in: tx)
    guard index >= 0, index <= count else { throw tree.outOfBounds(index, count) }
    try tree.replace(index..<index, with: try ArrayLeaf(CollectionOfOne(element), for: tree), in: &tx)
  }

  /// Replaces the element at an index.
  /// - Throws: `outOfBounds`.
  @inlinable
  public func set(_ element: Element, at index: Int, timeout: Duration? = nil) throws(TableError) {
    try unsafe element.withTableBytes { bytes throws(TableError) in
      try unsafe tree.set(bytes, at: index, timeout: timeout)
    }
  }

  /// Replaces the element at an index, as part of a barrier; throws what the transaction throws.
  @inlinable
  public func set(_ element: Element, at index: Int, in tx: inout Transaction) throws(TableError) {
    try unsafe element.withTableBytes { bytes throws(TableError) in try unsafe tree.set(bytes, at: index, in: &tx) }
  }

  /// Changes the element at an index in place, in one barrier.
  ///
  /// `body` runs alone on the host: keep it short. If it throws, nothing changes.
  /// - Throws: `outOfBounds`.
  @discardableResult
  @inlinable
  public func mutate<R>(
    at index: Int, timeout: Duration? = nil, _ body: (inout Element) throws -> R
  ) throws -> R {
    try tree.place.barrier(timeout) { tx in try mutate(at: index, in: &tx, body) }
  }

  /// Changes the element at an index in place, as part of a barrier; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func mutate<R>(
    at index: Int, in tx: inout Transaction, _ body: (inout Element) throws -> R
  ) throws -> R {
    var element = try get(at: index, in: tx)
    let result = try body(&element)
    try set(element, at: index, in: &tx)
    return result
  }

  /// Removes the element at an index and returns it.
  /// - Throws: `outOfBounds`.
  @discardableResult
  @inlinable
  public func remove(at index: Int, timeout: Duration? = nil) throws(TableError) -> Element {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try remove(at: index, in: &tx) }
  }

  /// Removes the element at an index and returns it, as part of a barrier; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func remove(at index: Int, in tx: inout Transaction) throws(TableError) -> Element {
    let element = try get(at: index, in: tx)
    try tree.replace(index..<index + 1, with: ArrayLeaf(alignment: tree.alignment), in: &tx)
    return element
  }

  /// Removes the first element and returns it; nil if there is none.
  @inlinable
  public func popFirst(timeout: Duration? = nil) throws(TableError) -> Element? {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try popFirst(in: &tx) }
  }

  /// Removes the first element and returns it, as part of a barrier; nil if there is none. Throws what the transaction throws.
  @inlinable
  public func popFirst(in tx: inout Transaction) throws(TableError) -> Element? {
    try count(in: tx) == 0 ? nil : remove(at: 0, in: &tx)
  }

  /// Removes the first elements, so many, in one barrier: cheaper than one by one.
  /// - Throws: `outOfBounds` if there are fewer, or the number is negative; then none is removed.
  @inlinable
  public func removeFirst(_ count: Int, timeout: Duration? = nil) throws(TableError) {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try removeFirst(count, in: &tx) }
  }

  /// Removes the first elements, so many, as part of a barrier; throws what the transaction throws.
  @inlinable
  public func removeFirst(_ count: Int, in tx: inout Transaction) throws(TableError) {
    let all = try self.count(in: tx)
    guard count >= 0 else { throw tree.negativeCount(count) }
    guard count <= all else { throw tree.outOfBounds(count - 1, all) }
    try tree.remove(0..<count, in: &tx)
  }

  /// Removes the last element and returns it; nil if there is none.
  @inlinable
  public func popLast(timeout: Duration? = nil) throws(TableError) -> Element? {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try popLast(in: &tx) }
  }

  /// Removes the last element and returns it, as part of a barrier; nil if there is none. Throws what the transaction throws.
  @inlinable
  public func popLast(in tx: inout Transaction) throws(TableError) -> Element? {
    let count = try count(in: tx)
    return count == 0 ? nil : try remove(at: count - 1, in: &tx)
  }

  /// Removes all elements in one barrier, and the array's type: the name is free.
  @inlinable
  public func removeAll(timeout: Duration? = nil) throws(TableError) {
    try tree.place.withBarrier(timeout) { tx throws(TableError) in try removeAll(in: &tx) }
  }

  /// Removes all elements and the array's type as part of a barrier; throws what the transaction throws.
  @inlinable
  public func removeAll(in tx: inout Transaction) throws(TableError) { try tree.removeAll(in: &tx) }
}
