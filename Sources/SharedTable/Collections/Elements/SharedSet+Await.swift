/// Changes from asynchronous code: what the blocking forms of the same names do. They run at once on the task's thread if
/// nothing is in their way; else the task suspends. A closure that finds no room (`full`) is undone and run again.
extension SharedSet {
  /// Puts an element in.
  /// - Returns: whether the element was not there before.
  @discardableResult
  nonisolated(nonsending) public func insert(_ element: Element, timeout: Duration? = nil) async throws -> Bool {
    try await store.place.awaitBarrier(timeout) { tx in try insert(element, in: &tx) }
  }

  /// Takes an element out.
  /// - Returns: whether the element was there.
  @discardableResult
  nonisolated(nonsending) public func remove(_ element: Element, timeout: Duration? = nil) async throws -> Bool {
    try await store.place.awaitBarrier(timeout) { tx in try remove(element, in: &tx) }
  }

  /// Inserts all of `other` in one barrier.
  nonisolated(nonsending) public func formUnion(_ other: some Sequence<Element>, timeout: Duration? = nil) async throws
  {
    let other = Array(other)
    try await store.place.awaitBarrier(timeout) { tx in try formUnion(other, in: &tx) }
  }

  /// Removes all of `other` in one barrier.
  nonisolated(nonsending) public func subtract(_ other: some Sequence<Element>, timeout: Duration? = nil) async throws {
    let other = Array(other)
    try await store.place.awaitBarrier(timeout) { tx in try subtract(other, in: &tx) }
  }

  /// Removes what `other` has not, in one barrier.
  nonisolated(nonsending) public func formIntersection(_ other: Set<Element>, timeout: Duration? = nil) async throws {
    try await removeAll(timeout: timeout) { element in !Self.isElement(element, of: other) }
  }

  /// Removes all elements in one barrier, and the set's type: the name is free.
  nonisolated(nonsending) public func removeAll(timeout: Duration? = nil) async throws {
    try await store.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx) }
  }

  /// Removes the elements for which `predicate` holds, in one barrier; if it throws, none.
  /// - Returns: how many they were.
  @discardableResult
  nonisolated(nonsending) public func removeAll(
    timeout: Duration? = nil, where predicate: @Sendable (Element) throws -> Bool
  ) async throws -> Int {
    try await store.place.awaitBarrier(timeout) { tx in try removeAll(in: &tx, where: predicate) }
  }
}
