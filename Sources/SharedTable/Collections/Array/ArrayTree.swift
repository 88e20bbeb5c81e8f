import TableEngine

/// A ``SharedArray``'s nodes in its table: node N lies under the key `NAME/N`, and the header holds what ``State`` says.
///
/// The last elements are in a leaf that is below no other node: the *tail*. It alone knows how many it has. So an append,
/// and any other change within the tail, stores one node and nothing else.
///
/// Knows elements as bytes only: what is generic is not specialised for other modules' types, and would take several
/// times as long. ``SharedArray`` makes bytes of elements and elements of bytes, where they are used. A class, for what
/// captures it counts one reference instead of five.
@usableFromInline
final class ArrayTree: Sendable {
  let table: Table
  @usableFromInline let place: CollectionPlace
  /// The prefix of nodes' keys. The place's name owns its memory.
  private let prefix: KeptBytes
  let limits: ArrayLimits
  /// The alignment of an element.
  @usableFromInline let alignment: Int
  /// The form of nodes. Here it is read without a look whether its fingerprint has been computed.
  let nodeForm = StoredForm(of: ArrayNodeBytes.self)
  /// What direct barriers know of the header.
  private let knownHeader: KnownHeader

  init<Element: TableValue>(
    _ name: String, _ table: Table, of type: Element.Type, _ limits: ArrayLimits
  ) throws(TableError) {
    self.table = table
    self.limits = limits
    alignment = ArrayLeaf.alignment(of: type)
    place = CollectionPlace(
      table: table, name: try CollectionKeys(name, table),
      signature: Self.signature(of: type, alignment))
    prefix = place.name.prefix
    knownHeader = KnownHeader(keyLength: prefix.numberedKeyLength)
  }

  deinit { knownHeader.deallocate() }

  /// That of an array: the type's, and where its elements begin in a leaf. A fingerprint stands for both; so does the name of a type whose
  /// elements are not aligned, as the library's are not.
  private static func signature<Element: TableValue>(of type: Element.Type, _ alignment: Int) -> String {
    let elements = "array of \(SharedTable.signature(of: type))"
    return Element.tableFingerprint == 0 && alignment > 1 ? "\(elements) aligned to \(alignment)" : elements
  }

  /// What the header says, and how many elements the tail has.
  @usableFromInline
  struct State: Equatable {
    /// Elements below the root.
    var rooted = 0
    /// 0 if there is none; and its level.
    var root = 0
    var level = 0
    /// The next number that no node has yet.
    var next = 1
    /// The number of the leaf that has the elements behind those of the tree; 0 if there is none.
    var tail = 0
    /// 0 where only the header was read.
    var tailCount = 0

    /// The number of all elements.
    @usableFromInline var count: Int { rooted + tailCount }

    var header: CollectionHeader.Numbers { [rooted, root, level, next, tail] }

    /// Can a barrier have left this?
    var isPossible: Bool {
      level <= ArrayLimits.levels && root < next && tail < next && (rooted == 0) == (root == 0)
        && (rooted > 0 || level == 0)
    }
  }

  @usableFromInline
  func state(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> State {
    var state = try stateOfHeader(in: section)
    if state.tail > 0 { state.tailCount = try withNode(state.tail, 0, in: section) { node in node.count } }
    return state
  }

  /// As ``state(in:)``, without the number of elements in the tail: one look-up.
  @usableFromInline @inline(__always)
  func stateOfHeader(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> State {
    try state(place.header(in: section))
  }

  @inline(__always)
  func stateOfHeader(inBarrier tx: borrowing Transaction) throws(TableError) -> State {
    try state(place.header(inBarrier: tx))
  }

  @inline(__always)
  private func state(_ numbers: CollectionHeader.Numbers?) throws(TableError) -> State {
    guard let numbers else { return State() }
    let state = State(header: numbers)
    guard state.isPossible else { throw contradiction }
    return state
  }

  /// The header that a direct barrier has found; nil if there is none, or none that is valid.
  @inline(__always)
  func header(in barrier: DirectBarrier) -> KnownHeader? {
    guard let found = barrier.root else { return nil }
    return _fastPath(knownHeader.isThat(ofVersion: found.version)) || learn(found, in: barrier) ? knownHeader : nil
  }

  @inline(never)
  private func learn(_ header: FoundEntry, in barrier: DirectBarrier) -> Bool {
    guard let numbers = place.numbers(in: barrier) else { return false }
    let state = State(header: numbers)
    guard state.isPossible else { return false }
    unsafe prefix.withNumberedKey(state.tail) { key in
      unsafe knownHeader.learn(version: header.version, state, tail: key, hash: table.segment.hash(key))
    }
    return true
  }

  @inline(never)
  private var contradiction: TableError { place.damaged(CollectionPlace.contradiction) }

  @usableFromInline @inline(never)
  func outOfBounds(_ index: Int, _ count: Int) -> TableError {
    TableError(
      .outOfBounds, table: table.name,
      "array '\(place.name.text)' has \(count) elements and none at index \(index); "
        + "look at the count and use the index in one section")
  }

  @usableFromInline @inline(never)
  func negativeCount(_ count: Int) -> TableError {
    TableError(
      .outOfBounds, table: table.name, "array '\(place.name.text)' cannot remove \(count) elements; give 0 or more")
  }

  @inline(never)
  func damaged(_ id: Int) -> TableError { place.damaged("its node \(id) contradicts the others") }

  /// The array's node is as it should be. What it holds there is another program's, whose type has the same form.
  @inline(never)
  private func noElement(_ index: Int) -> TableError { place.foreign("element at index \(index)") }

  /// Runs `body` on a node where it lies.
  @inline(__always)
  func withNode<R>(
    _ id: Int, _ level: Int, in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (borrowing ArrayNodeSpan) throws(TableError) -> R
  ) throws(TableError) -> R {
    let found = try unsafe withKey(id) { key throws(TableError) in try unsafe section.found(RawKey(key)) }
    guard let found else { throw damaged(id) }
    return try body(node(found, id, level))
  }

  /// Calls `body` with a node's key.
  @inline(__always)
  func withKey<R>(_ id: Int, _ body: (UnsafeRawBufferPointer) throws(TableError) -> R) throws(TableError) -> R {
    try unsafe prefix.withNumberedKey(id, body)
  }

  /// What an entry says, if it is a node of that level. It lies in the table as long as the entry does.
  @inline(__always) @_lifetime(immortal)
  func node(_ found: FoundEntry, _ id: Int, _ level: Int) throws(TableError) -> ArrayNodeSpan {
    guard let node = node(found, level) else { throw damaged(id) }
    return node
  }

  /// As ``node(_:_:_:)``; nil if the entry is no such node.
  @inline(__always) @_lifetime(immortal)
  func node(_ found: FoundEntry, _ level: Int) -> ArrayNodeSpan? {
    guard found.hasForm(nodeForm), let node = ArrayNodeSpan(unsafe RawSpan(_unsafeBytes: found.value)),
      node.level == level
    else { return nil }
    return unsafe _overrideLifetime(node, borrowing: ())
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
      try unsafe withElement(at: index, stateOfHeader(in: view), in: view, body)
    }
  }

  /// Calls `body` with the bytes of an element in a view of which the state is known.
  @usableFromInline
  func withElement(
    at index: Int, _ state: State, in view: borrowing ReadView, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(TableError) {
    try unsafe withElement(at: index, state, inSection: view, body)
  }

  /// Calls `body` with the bytes of one element, where they lie; it says whether they are one. As many look-ups as the
  /// tree has levels, or the one of the tail, and no node copied. Needs of the state what the header says.
  @usableFromInline
  func withElement(
    at index: Int, _ state: State, inSection section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(TableError) {
    let (leaf, place) = try place(of: index, state, in: section)
    let isOne = try withNode(leaf, 0, in: section) { node throws(TableError) in
      try checkTail(leaf, place, node.count, state)
      return unsafe node.withElement(place, alignment: alignment, body)
    }
    guard isOne == true else { throw isOne == nil ? damaged(leaf) : noElement(index) }
  }

  /// The leaf that has an element, and where in it. In the tail it may be one too far.
  /// - Throws: `outOfBounds`, `damaged`.
  func place(
    of index: Int, _ state: State, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> (leaf: Int, place: Int) {
    guard index >= 0 else { throw outOfBounds(index, try self.state(in: section).count) }
    if index >= state.rooted {
      guard state.tail > 0 else { throw outOfBounds(index, state.rooted) }
      return (state.tail, index - state.rooted)
    }
    return try unsafe descend(to: index, state) { key throws(TableError) in try unsafe section.found(RawKey(key)) }
  }

  /// The leaf below the root that has an element, and where in it.
  /// - Parameter find: what lies under a node's key.
  @inline(__always)
  func descend(
    to index: Int, _ state: State, _ find: (UnsafeRawBufferPointer) throws(TableError) -> FoundEntry?
  ) throws(TableError) -> (leaf: Int, place: Int) {
    var id = state.root
    var rest = index
    var level = state.level
    while level > 0 {
      guard let found = try unsafe withKey(id, find), let (child, before) = node(found, level)?.child(holding: rest)
      else { throw damaged(id) }
      id = child
      rest -= before
      level -= 1
    }
    return (id, rest)
  }

  /// Visits the bytes of the elements of a range in order, until `body` returns false; nil if they are no element.
  @usableFromInline
  func forEach(
    _ range: Range<Int>, _ state: State, in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (Int, UnsafeRawBufferPointer) throws -> Bool?
  ) throws {
    guard range.lowerBound >= 0, range.upperBound <= state.count else {
      throw outOfBounds(range.lowerBound < 0 ? range.lowerBound : range.upperBound - 1, state.count)
    }
    if range.isEmpty { return }
    var walk = Walk(range: range, bytesLeft: table.reachableBytes)
    if range.lowerBound < state.rooted {
      let root = ArrayInner.Child(id: state.root, count: state.rooted)
      guard try unsafe visit(root, state.level, 0, &walk, in: section, body) else { return }
    }
    if range.upperBound > state.rooted {
      let tail = ArrayInner.Child(id: state.tail, count: state.tailCount)
      _ = try unsafe visitLeaf(tail, state.rooted, &walk, in: section, body)
    }
  }

  struct Walk {
    let range: Range<Int>
    /// Nodes lie side by side: who meets more bytes than there are meets some of them again and again.
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
        guard let goesOn else { throw damaged(child.id) }
        guard let goesOn else { throw noElement(index) }
        if !goesOn { return false }
      }
      return true
    }
    if let failure { throw failure }
    return goesOn
  }
}

extension ArrayTree.State {
  @inline(__always)
  init(header numbers: CollectionHeader.Numbers) {
    (rooted, root, level, next, tail) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
  }
}
