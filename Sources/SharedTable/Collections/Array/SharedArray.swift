/// An array that all processes share: all instances of one name are the same array.
///
/// ```swift
/// let names = try SharedArray<String>("names", in: table)
/// try names.append("ann")
/// let first = try names[0]
/// try names.read { elements in                  // count and indices of one snapshot
///   for index in 0..<elements.count { print(try elements[index]) }
/// }
/// ```
/// A B+-tree over the table's keys, whose nodes count the elements below them: reading, inserting and removing an
/// element at any index touches a few nodes of some kilobytes, also among millions; appending touches one. Under NAME lie the array's
/// type and how many elements are below the root; the tail, the last node, knows how many it has besides. Under `NAME/1`, `NAME/2` and
/// so on lie its nodes.
///
/// An index is valid as long as nobody changes the array, and other processes may. An index without an element throws `outOfBounds`.
/// Nothing tells you that an index meanwhile means another element. So read the count and use the index in one section: in
/// ``read(timeout:_:)``, or with the forms with `in:`.
///
/// Reads wait as ``Table/read(timeout:_:)`` does, changes are one barrier each and wait as `Table.barrier(timeout:_:)`
/// does. Both throw what those throw; `typeMismatch` if the name belongs to something else, or if another program stored an element that is
/// not valid as this type (300 for an `Int8`); and `damaged` if the nodes contradict each other. Inside a section of the table use the forms
/// with `in:`: they wait for nothing, and several of them read or change one state. What is returned is a copy. Safe to use from any thread.
public struct SharedArray<Element: TableValue>: Sendable {
  @usableFromInline let tree: ArrayTree

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - table: where it lies.
  /// - Throws: `invalid` for another name. Touches the table not at all.
  public init(_ name: String, in table: Table) throws(TableError) { try self.init(name, in: table, limits: .init()) }

  init(_ name: String, in table: Table, limits: ArrayLimits) throws(TableError) {
    tree = try ArrayTree(name, table, of: Element.self, limits)
  }

  /// The table that it lies in.
  public var table: Table { tree.table }
  /// The name that it has in the table.
  public var name: String { tree.place.name.text }

  /// The number of elements. It is stored, so this is two look-ups.
  public var count: Int {
    @inlinable get throws(TableError) {
      try table.withSection(timeout: nil) { view throws(TableError) in try count(in: view) }
    }
  }

  /// The number of elements, as a section sees it.
  public func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try tree.state(in: section).count
  }

  /// Whether there are no elements, as of the newest committed version.
  public var isEmpty: Bool {
    @inlinable get throws(TableError) { try count == 0 }
  }

  /// The element at an index as of now.
  /// - Throws: `outOfBounds`.
  public subscript(index: Int) -> Element {
    @inlinable
    get throws(TableError) {
      var element: Element?
      try unsafe tree.withElement(at: index) { bytes in
        element = unsafe Element(tableBytes: bytes)
        return element != nil
      }
      // Or `typeMismatch` was thrown.
      return element!
    }
  }

  /// The element at an index in a section.
  /// - Throws: `outOfBounds`.
  @inlinable
  public func get(
    at index: Int, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> Element {
    var element: Element?
    try unsafe tree.withElement(at: index, tree.stateOfHeader(in: section), inSection: section) { bytes in
      element = unsafe Element(tableBytes: bytes)
      return element != nil
    }
    return element!
  }

  /// The first element as of now; nil if there is none.
  @inlinable public var first: Element? { get throws { try prefix(1).first } }

  /// The last element as of now; nil if there is none.
  public var last: Element? {
    @inlinable get throws {
      try table.withSection { view in
        let elements = try Elements(tree, view)
        return elements.isEmpty ? nil : try elements[elements.count - 1]
      }
    }
  }

  /// Visits the elements of one snapshot in order, with their indices.
  ///
  /// Looks at the array's nodes only. Writers of the rwlock variant wait meanwhile.
  @inlinable
  public func forEach(timeout: Duration? = nil, _ body: (_ index: Int, Element) throws -> Void) throws {
    try table.read(timeout: timeout) { view in try forEach(in: view, body) }
  }

  /// Visits the elements in a section, in order; in a barrier, `body` must not write.
  @inlinable
  public func forEach(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (_ index: Int, Element) throws -> Void
  ) throws {
    try visit(in: section) { index, element in
      try body(index, element)
      return true
    }
  }

  /// As ``forEach(in:_:)``, until `body` returns false.
  @inlinable
  func visit(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable), _ body: (_ index: Int, Element) throws -> Bool
  ) throws {
    let state = try tree.state(in: section)
    try unsafe tree.forEach(0..<state.count, state, in: section) { index, bytes in
      try unsafe Element(tableBytes: bytes).map { try body(index, $0) }
    }
  }

  /// A copy of all elements of one snapshot.
  @inlinable
  public func allElements() throws -> [Element] {
    try table.withSection { view in try Elements(tree, view).allElements() }
  }

  /// A copy of all elements, as a section sees them.
  @inlinable
  public func allElements(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws -> [Element] {
    var elements: [Element] = []
    try forEach(in: section) { _, element in elements.append(element) }
    return elements
  }

  /// A copy of the first elements of one snapshot, at most so many.
  @inlinable
  public func prefix(_ maxLength: Int) throws -> [Element] {
    try table.withSection { view in
      let elements = try Elements(tree, view)
      return try elements.elements(at: 0..<max(0, min(maxLength, elements.count)))
    }
  }

  /// A copy of the elements of a range, of one snapshot.
  /// - Throws: `outOfBounds` unless all of them are there.
  @inlinable
  public func elements(at range: Range<Int>) throws -> [Element] {
    try table.withSection { view in try Elements(tree, view).elements(at: range) }
  }

  /// Runs `body` on the array in one snapshot: its count, and the elements that go with it.
  ///
  /// Waits and throws as ``Table/read(timeout:_:)`` does, and throws what `body` throws.
  @inlinable
  public func read<R>(timeout: Duration? = nil, _ body: (borrowing Elements) throws -> R) throws -> R {
    try table.read(timeout: timeout) { view in try body(Elements(tree, view)) }
  }

  /// An array in one snapshot: cannot be returned, stored, captured or carried over an `await`.
  public struct Elements: ~Escapable {
    @usableFromInline let tree: ArrayTree
    @usableFromInline let view: ReadView
    @usableFromInline let state: ArrayTree.State

    @inlinable @_lifetime(copy view)
    init(_ tree: ArrayTree, _ view: borrowing ReadView) throws(TableError) {
      self.tree = tree
      self.view = copy view
      state = try tree.state(in: view)
    }

    /// How many elements the array has in this snapshot.
    @inlinable public var count: Int { state.count }
    /// Whether there are none in this snapshot.
    @inlinable public var isEmpty: Bool { state.count == 0 }

    /// The element at an index, counted from 0.
    /// - Throws: `outOfBounds`.
    public subscript(index: Int) -> Element {
      @inlinable
      get throws(TableError) {
        var element: Element?
        try unsafe tree.withElement(at: index, state, in: view) { bytes in
          element = unsafe Element(tableBytes: bytes)
          return element != nil
        }
        return element!
      }
    }

    /// Visits the elements in order.
    @inlinable
    public func forEach(_ body: (_ index: Int, Element) throws -> Void) throws {
      try unsafe tree.forEach(0..<state.count, state, in: view) { index, bytes in
        guard let element = unsafe Element(tableBytes: bytes) else { return nil }
        try body(index, element)
        return true
      }
    }

    /// A copy of the elements of a range.
    /// - Throws: `outOfBounds` unless all of them are there.
    @inlinable
    public func elements(at range: Range<Int>) throws -> [Element] {
      var elements: [Element] = []
      try unsafe tree.forEach(range, state, in: view) { _, bytes in
        guard let element = unsafe Element(tableBytes: bytes) else { return nil }
        elements.append(element)
        return true
      }
      return elements
    }

    /// A copy of all elements.
    @inlinable
    public func allElements() throws -> [Element] { try elements(at: 0..<state.count) }
  }
}
