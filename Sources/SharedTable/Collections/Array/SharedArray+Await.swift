/// Changes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if
/// nothing is in their way; else the task suspends. A closure that finds no room (`full`) is undone and run again.
extension SharedArray {
  /// Adds an element at the end.
  nonisolated(nonsending) public func append(_ element: Element, timeout: Duration? = nil) async throws {
    try await tree.place.awaitBarrier(timeout) { tx in try append(element, in: &tx) }
  }

  /// Appends many elements in one barrier: all of them or none.
  nonisolated(nonsending) public func append(
    contentsOf elements: some Sequence<Element>, timeout: Duration? = nil
  ) async throws {
    let run = try ArrayLeaf(elements, for: tree)
    try await tree.place.awaitBarrier(timeout) { tx in try append(run, in: &tx) }
  }

  /// Inserts an element before the one at an index; the count is an index here too.
  /// - Throws: `outOfBounds`.
  nonisolated(nonsending) public func insert(_ element: Element, at index: Int, timeout: Duration? = nil) async throws {
    try await tree.place.awaitBarrier(timeout) { tx in try insert(element, at: index, in: &tx) }
  }

  /// Replaces the element at an index.
  /// - Throws: `outOfBounds`.
  nonisolated(nonsending) public func set(_ element: Element, at index: Int, timeout: Duration? = nil) async throws {
    try await tree.place.awaitBarrier(timeout) { tx in try set(element, at: index, in: &tx) }
  }

  /// Changes the element at an index in place, in one barrier. If `body` throws, nothing changes.
  /// - Throws: `outOfBounds`.
  @discardableResult
  nonisolated(nonsending) public func mutate<R: Sendable>(
    at index: Int, timeout: Duration? = nil, _ body: @Sendable (inout Element) throws -> R
  ) async throws -> R {
    try await tree.place.awaitBarrier(timeout) { tx in try mutate(at: index, in: &tx, body) }
  }

  /// Removes the element at an index and returns it.
  /// - Throws: `outOfBounds`.
  @discardableResult
  nonisolated(nonsending) public func remove(at index: Int, timeout: Duration? = nil) async throws -> Element {
    try await tree.place.awaitBarrier(timeout) { tx in try remove(at: index, in: &tx) }
  }

  /// Removes the first element and returns it; nil if there is none.
  nonisolated(nonsending) public func popFirst(timeout: Duration? = nil) async throws -> Element? {
    try await tree.place.awaitBarrier(timeout) { tx in try popFirst(in: &tx) }
  }

  /// Removes the first elements, so many, in one barrier: cheaper than one by one.
  /// - Throws: `outOfBounds` if there are fewer, or the number is negative; then none is removed.
  nonisolated(nonsending) public func removeFirst(_ count: Int, timeout: Duration? = nil) async throws {
    try await tree.place.awaitBarrier(timeout) { tx in try removeFirst(count, in: &tx) }
  }

  /// Removes the last element and returns it; nil if there is none.
  nonisolated(nonsending) public func popLast(timeout: Duration? = nil) async throws -> Element? {
    try await tree.place.awaitBarrier(timeout) { tx in try popLast(in: &tx) }
  }

  /// Removes all elements in one barrier, and the array's type: the name is free.
  nonisolated(nonsending) public func removeAll(timeout: Duration? = nil) async throws {
    try await tree.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx) }
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none.
  /// - Returns: how many they were.
  @discardableResult
  nonisolated(nonsending) public func removeAll(
    timeout: Duration? = nil, where predicate: @Sendable (Element) throws -> Bool
  ) async throws -> Int {
    try await tree.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }
}
