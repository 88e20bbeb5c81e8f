/// A set that all processes share: all instances of one name are the same set.
///
/// ```swift
/// let online = try SharedSet<String>("online", in: table)
/// try online.insert("ann")
/// let both = try online.intersection(["ann", "bob"])
/// ```
/// Element E lies under the key `NAME/E`, with the value true; the rest is as with ``SharedDictionary``, including what
/// waits, what is thrown, and the forms with `in:` for use inside a section.
public struct SharedSet<Element: SharedKey>: Sendable {
  @usableFromInline let store: ElementStore<Element, Bool>

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - table: where it lies.
  /// - Throws: `invalid` for another name. Touches the table not at all.
  public init(_ name: String, in table: Table) throws(TableError) {
    store = try ElementStore(name, table, signature: "set of \(Element.keyForm)")
  }

  /// The table that it lies in.
  public var table: Table { store.table }
  /// The name that it has in the table.
  public var name: String { store.place.name.text }

  /// Whether the element is there.
  @inlinable
  public func contains(_ element: Element) throws(TableError) -> Bool { try store.contains(element) }

  /// Whether the element is there, as a section sees it.
  @inlinable
  public func contains(
    _ element: Element, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Bool {
    try store.contains(element, in: section)
  }

  /// The number of elements. It is stored, so this is one look-up.
  public var count: Int {
    @inlinable get throws(TableError) {
      try table.withSection(timeout: nil) { view throws(TableError) in try store.count(in: view) }
    }
  }

  /// The number of elements, as a section sees it.
  @inlinable
  public func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try store.count(in: section)
  }

  /// Whether there are no elements, as of the newest committed version.
  public var isEmpty: Bool {
    @inlinable get throws(TableError) { try count == 0 }
  }

  /// Visits the elements of one snapshot, in no particular order.
  @inlinable
  public func forEach(timeout: Duration? = nil, _ body: (Element) throws -> Void) throws {
    try table.read(timeout: timeout) { view in try forEach(in: view, body) }
  }

  /// Visits the elements in a section; in a barrier, `body` must not write.
  @inlinable
  public func forEach(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Element) throws -> Void
  ) throws {
    try visit(in: section) { element in
      try body(element)
      return true
    }
  }

  /// As ``forEach(in:_:)``, until `body` returns false.
  @inlinable
  func visit(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (Element) throws -> Bool
  ) throws {
    try store.visit(in: section) { element, _ in try body(element) }
  }

  /// A copy of one snapshot. Of several texts that Swift takes for equal (``SharedKey``) it has one; ``forEach(timeout:_:)`` has all.
  @inlinable
  public func allElements() throws -> Set<Element> { try table.withSection { view in try allElements(in: view) } }

  /// A copy of the elements, as a section sees them.
  @inlinable
  public func allElements(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws -> Set<Element> {
    var elements: Set<Element> = []
    try forEach(in: section) { element in elements.insert(element) }
    return elements
  }

  /// The elements of both. A copy.
  @inlinable
  public func union(_ other: Set<Element>) throws -> Set<Element> { try allElements().union(other) }

  /// The elements that are in both, in one snapshot: one look-up for each of `other`.
  @inlinable
  public func intersection(_ other: Set<Element>) throws(TableError) -> Set<Element> {
    try table.withSection(timeout: nil) { view throws(TableError) in
      var elements: Set<Element> = []
      for element in other where try contains(element, in: view) { elements.insert(element) }
      return elements
    }
  }

  /// The elements that are not in `other`. A copy.
  @inlinable
  public func subtracting(_ other: Set<Element>) throws -> Set<Element> {
    try table.withSection { view in
      var elements: Set<Element> = []
      try forEach(in: view) { element in
        if !Self.isElement(element, of: other) { elements.insert(element) }
      }
      return elements
    }
  }

  /// Whether the element is in `other` by its bytes, as this set compares: Swift takes several texts for equal (``SharedKey``).
  @inlinable
  static func isElement(_ element: Element, of other: Set<Element>) -> Bool {
    guard let index = other.firstIndex(of: element) else { return false }
    return unsafe element.withElementKey { ours in
      unsafe other[index].withElementKey { theirs in unsafe ours.elementsEqual(theirs) }
    }
  }

  /// Whether all elements of `other` are in this set, in one snapshot.
  @inlinable
  public func isSuperset(of other: Set<Element>) throws(TableError) -> Bool {
    try intersection(other).count == other.count
  }
}

/// Changes: one barrier each, or, with `in:`, part of one. If one throws, it changed nothing; a barrier whose closure
/// catches the error goes on as if it had not been tried.
extension SharedSet {
  /// Puts an element in.
  /// - Returns: whether the element was not there before.
  @discardableResult
  @inlinable
  public func insert(_ element: Element, timeout: Duration? = nil) throws(TableError) -> Bool {
    try store.place.withBarrier(timeout) { tx throws(TableError) in try insert(element, in: &tx) }
  }

  /// Puts an element in, as part of a barrier; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func insert(_ element: Element, in tx: inout Transaction) throws(TableError) -> Bool {
    _ = try store.count(in: tx)
    if try store.contains(element, in: tx) { return false }
    return try store.set(element, true, if: .always, in: &tx)
  }

  /// Takes an element out.
  /// - Returns: whether the element was there.
  @discardableResult
  @inlinable
  public func remove(_ element: Element, timeout: Duration? = nil) throws(TableError) -> Bool {
    try store.place.withBarrier(timeout) { tx throws(TableError) in try remove(element, in: &tx) }
  }

  /// Takes an element out, as part of a barrier; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func remove(_ element: Element, in tx: inout Transaction) throws(TableError) -> Bool {
    try store.remove(CollectionOfOne(element), in: &tx) > 0
  }

  /// Inserts all of `other` in one barrier.
  @inlinable
  public func formUnion(_ other: some Sequence<Element>, timeout: Duration? = nil) throws(TableError) {
    // A sequence may end with its first pass, and the barrier may be tried again.
    let other = Array(other)
    try store.place.withBarrier(timeout) { tx throws(TableError) in try formUnion(other, in: &tx) }
  }

  /// Inserts all of `other` as part of a barrier; throws what the transaction throws.
  @inlinable
  public func formUnion(_ other: some Sequence<Element>, in tx: inout Transaction) throws(TableError) {
    try store.set(other.lazy.map { (key: $0, value: true) }, in: &tx)
  }

  /// Removes all of `other` in one barrier.
  @inlinable
  public func subtract(_ other: some Sequence<Element>, timeout: Duration? = nil) throws(TableError) {
    // As for a union.
    let other = Array(other)
    try store.place.withBarrier(timeout) { tx throws(TableError) in try subtract(other, in: &tx) }
  }

  /// Removes all of `other` as part of a barrier; throws what the transaction throws.
  @inlinable
  public func subtract(_ other: some Sequence<Element>, in tx: inout Transaction) throws(TableError) {
    try store.remove(other, in: &tx)
  }

  /// Removes the elements that are not in `other`, in one barrier.
  @inlinable
  public func formIntersection(_ other: Set<Element>, timeout: Duration? = nil) throws {
    try store.place.repeatableBarrier(timeout) { tx in try formIntersection(other, in: &tx) }
  }

  /// Removes the elements that are not in `other` as part of a barrier; throws what the transaction throws.
  @inlinable
  public func formIntersection(_ other: Set<Element>, in tx: inout Transaction) throws {
    try removeAll(in: &tx) { element in !Self.isElement(element, of: other) }
  }

  /// Removes all elements in one barrier, and the set's type: the name is free.
  @inlinable
  public func removeAll(timeout: Duration? = nil) throws(TableError) {
    try store.place.withBarrier(timeout) { tx throws(TableError) in try removeAll(in: &tx) }
  }

  /// Removes all elements and the set's type as part of a barrier; throws what the transaction throws.
  @inlinable
  public func removeAll(in tx: inout Transaction) throws(TableError) { try store.removeAll(in: &tx) }
}
