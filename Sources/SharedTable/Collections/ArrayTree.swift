/// A ``SharedArray``'s tree in its table: node N lies under the key `NAME/N`, and the header holds the number of elements,
/// the root's number, its level, and the next number that no node has yet.
///
/// Knows elements as bytes only: what is generic is not specialised for other modules' types, and would take several
/// times as long. ``SharedArray`` makes bytes of elements and elements of bytes, where they are used.
@usableFromInline
struct ArrayTree: Sendable {
  let table: Table
  let place: CollectionPlace
  let limits: ArrayNode.Limits
  /// Of an element.
  let alignment: Int

  init<Element: TableValue>(
    _ name: String, _ table: Table, of type: Element.Type, _ limits: ArrayNode.Limits
  ) throws(TableError) {
    self.table = table
    self.limits = limits
    alignment = ArrayLeaf.alignment(of: type)
    place = CollectionPlace(
      table: table, name: try CollectionName(name, table),
      signature: "array of \(SharedTable.signature(of: type))", numbers: 4)
  }

  @usableFromInline
  struct State: Equatable {
    var count = 0
    var root = 0
    var level = 0
    var next = 1
  }

  func state(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> State {
    guard let numbers = try place.header(in: section) else { return State() }
    let state = State(count: numbers[0], root: numbers[1], level: numbers[2], next: numbers[3])
    guard state.level <= ArrayNode.Limits.levels, state.root < state.next, (state.count == 0) == (state.root == 0),
      state.count > 0 || state.level == 0
    else { throw place.damaged("its header contradicts itself") }
    return state
  }

  func outOfBounds(_ index: Int, _ count: Int) -> TableError {
    TableError(
      .outOfBounds, table: table.name,
      "array '\(place.name.text)' has \(count) elements and none at index \(index); "
        + "look at the count and use the index in one section")
  }

  func damaged(_ id: Int) -> TableError { place.damaged("its node \(id) contradicts the others") }

  /// Runs `body` on a node where it lies.
  func withNode<R>(
    _ id: Int, _ level: Int, in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (borrowing ArrayNodeSpan) throws(TableError) -> R
  ) throws(TableError) -> R {
    let result = try unsafe place.name.withNumberedKey(id) { key throws(TableError) -> R?? in
      try unsafe section.withEntry(RawKey(key)) { entry throws(TableError) -> R? in
        guard entry.type == ArrayNodeBytes.tableType, entry.fingerprint == ArrayNode.fingerprint,
          let node = ArrayNodeSpan(entry.bytes), node.level == level
        else { return nil }
        return try body(node)
      }
    }
    guard let result = result ?? nil else { throw damaged(id) }
    return result
  }

  func leaf(
    _ child: ArrayInner.Child, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> ArrayLeaf {
    let leaf = try withNode(child.id, 0, in: section) { node in
      ArrayLeaf(node, alignment: alignment)
    }
    guard let leaf, leaf.count == child.count else { throw damaged(child.id) }
    return leaf
  }

  func inner(
    _ child: ArrayInner.Child, level: Int, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> ArrayInner {
    guard let inner = try withNode(child.id, level, in: section, { node in ArrayInner(node) }),
      inner.count == child.count
    else { throw damaged(child.id) }
    return inner
  }

  // MARK: - Reads

  /// Calls `body` with the newest committed bytes of an element.
  @usableFromInline
  func withElement(at index: Int, _ body: (UnsafeRawBufferPointer) -> Bool) throws(TableError) {
    try table.withSection(timeout: nil) { view throws(TableError) in
      try unsafe withElement(at: index, state(in: view), in: view, body)
    }
  }

  /// The same in a view of which the state is known.
  @usableFromInline
  func withElement(
    at index: Int, _ state: State, in view: borrowing ReadView, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(TableError) {
    try unsafe withElement(at: index, state, inSection: view, body)
  }

  /// Calls `body` with the bytes of one element, where they lie; it says whether they are one. As many look-ups as the
  /// tree has levels, and no node copied.
  func withElement(
    at index: Int, _ state: State, inSection section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(TableError) {
    guard index >= 0, index < state.count else { throw outOfBounds(index, state.count) }
    var id = state.root
    var rest = index
    var level = state.level
    while level > 0 {
      let (child, before) = try withNode(id, level, in: section) { node throws(TableError) in
        try descend(node, id, rest)
      }
      id = child
      rest -= before
      level -= 1
    }
    let isOne = try withNode(id, 0, in: section) { node in
      unsafe node.withElement(rest, alignment: alignment, body) ?? false
    }
    guard isOne else { throw damaged(id) }
  }

  /// The child that element `rest` is below, and how many elements lie before it.
  private func descend(
    _ node: borrowing ArrayNodeSpan, _ id: Int, _ rest: Int
  ) throws(TableError) -> (child: Int, before: Int) {
    var before = 0
    for index in 0..<node.count {
      guard let child = node.child(index) else { break }
      if rest - before < child.count { return (child.id, before) }
      before += child.count
    }
    throw damaged(id)
  }

  /// Visits the bytes of the elements of a range in order, until `body` returns false; nil if they are no element.
  func forEach(
    _ range: Range<Int>, _ state: State, in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (Int, UnsafeRawBufferPointer) throws -> Bool?
  ) throws {
    guard range.lowerBound >= 0, range.upperBound <= state.count else {
      throw outOfBounds(range.lowerBound < 0 ? range.lowerBound : range.upperBound - 1, state.count)
    }
    if range.isEmpty { return }
    var walk = Walk(range: range, bytesLeft: table.capacityBytes)
    _ = try unsafe visit(.init(id: state.root, count: state.count), state.level, 0, &walk, in: section, body)
  }

  struct Walk {
    let range: Range<Int>
    /// Nodes lie side by side in the table: who meets more bytes than it has meets some of them again and again.
    var bytesLeft: Int
  }

  private func visit(
    _ child: ArrayInner.Child, _ level: Int, _ first: Int, _ walk: inout Walk,
    in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (Int, UnsafeRawBufferPointer) throws -> Bool?
  ) throws -> Bool {
    if level == 0 { return try unsafe visitLeaf(child, first, &walk, in: section, body) }
    let inner = try inner(child, level: level, in: section)
    walk.bytesLeft -= 16 * inner.children.count
    var first = first
    for child in inner.children {
      if first >= walk.range.upperBound { break }
      if first + child.count > walk.range.lowerBound {
        guard try unsafe visit(child, level - 1, first, &walk, in: section, body) else { return false }
      }
      first += child.count
    }
    return true
  }

  private func visitLeaf(
    _ child: ArrayInner.Child, _ first: Int, _ walk: inout Walk,
    in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (Int, UnsafeRawBufferPointer) throws -> Bool?
  ) throws -> Bool {
    let wanted = walk.range.clamped(to: first..<first + child.count)
    var failure: (any Error)?
    let goesOn = try withNode(child.id, 0, in: section) { node throws(TableError) in
      walk.bytesLeft -= node.span.byteCount
      guard node.count == child.count, walk.bytesLeft >= 0 else { throw damaged(child.id) }
      for index in wanted {
        let goesOn = unsafe node.withElement(index - first, alignment: alignment) { bytes -> Bool? in
          do {
            return try unsafe body(index, bytes)
          } catch {
            failure = error
            return false
          }
        }
        guard let goesOn = goesOn ?? nil else { throw damaged(child.id) }
        if !goesOn { return false }
      }
      return true
    }
    if let failure { throw failure }
    return goesOn
  }
}
