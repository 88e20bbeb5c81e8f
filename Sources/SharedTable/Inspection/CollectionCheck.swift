import TableEngine

/// Looks whether what belongs to collections still fits together: the table itself knows keys and values only, so a key that
/// was removed or stored behind a collection's back is no damage to it.
///
/// In one section, so that all is of one version. Looks at every key, and keeps those of collections.
struct CollectionCheck {
  /// The names that have a header, with what it says; and caches.
  private var headers: [[UInt8]: CollectionHeader?] = [:]
  private var caches: [String] = []
  /// What the keys of each of those names are called behind the slash.
  private var parts: [[UInt8]: [[UInt8]]] = [:]
  /// Names without a header under which nodes or pages lie.
  private var headless: Set<[UInt8]> = []
  /// Names that are no cache's head beside which the first page of a ledger seems to lie: the hashes that it lists.
  private var ledgers: [String: Set<UInt64>] = [:]

  private static let slash = UInt8(ascii: "/")

  /// What is wrong, one sentence each.
  static func problems(in view: borrowing ReadView) throws -> [String] {
    var check = CollectionCheck()
    try check.findHeaders(view)
    try check.findParts(view)
    var problems: [String] = []
    for (name, header) in check.headers.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let found = try Self.problems(of: name, header, check.parts[name] ?? [], view)
      problems += found.map { "collection '\(String.printable(name))': \($0)" }
    }
    for name in check.caches.sorted() {
      let found = CollectionKeys.isName(name) ? try view.cacheProblems(name) : [Self.noName]
      problems += found.map { "cache '\(name.printable)': \($0)" }
    }
    for (name, hashes) in check.ledgers.sorted(by: { $0.key < $1.key }) where try view.holdsElement(of: name, hashes) {
      let what =
        try view.contains(name)
        ? "something else has its name, and elements of it are there; remove that, and the next write makes the head anew"
        : "its head is missing, and elements of it are there; the next write makes it anew"
      problems.append("cache '\(name.printable)': \(what)")
    }
    problems += check.headless.map(String.printable).sorted().map {
      "collection '\($0)': its header is missing, and parts of it are there"
    }
    return problems
  }

  private mutating func findHeaders(_ view: borrowing ReadView) throws {
    try view.forEach { key, entry in
      let name = unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
      guard !name.contains(Self.slash), !name.contains(UInt8(ascii: "#")) else { return }
      if entry.hasForm(of: CollectionHeader.self) {
        headers.updateValue(entry.value(as: CollectionHeader.self), forKey: name)
      } else if CacheHead.isOfACache(entry.found), let text = String(validating: name, as: UTF8.self) {
        caches.append(text)
      }
    }
  }

  private mutating func findParts(_ view: borrowing ReadView) throws {
    try view.forEach { key, entry in
      let bytes = unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
      guard let end = bytes.firstIndex(of: Self.slash) else { return findLedger(bytes, entry) }
      let name = Array(bytes[..<end])
      if headers[name] != nil {
        parts[name, default: []].append(Array(bytes[(end + 1)...]))
      } else if entry.hasForm(of: ArrayNodeBytes.self) || entry.hasForm(of: ElementPage.self) {
        headless.insert(name)
      }
    }
  }

  private mutating func findLedger(_ key: [UInt8], _ entry: borrowing EntryView) {
    let end = CacheKeys.firstPageEnd
    guard key.suffix(end.count).elementsEqual(end), let page = unsafe CachePage(entry.found.value),
      let name = String(validating: key.dropLast(end.count), as: UTF8.self), !caches.contains(name)
    else { return }
    ledgers[name] = Set((0..<page.count).map { page[$0].hash })
  }

  static func problems(
    of name: [UInt8], _ header: CollectionHeader?, _ parts: [[UInt8]], _ view: borrowing ReadView
  ) throws -> [String] {
    guard let header, let text = String(validating: name, as: UTF8.self) else { return ["its header cannot be read"] }
    guard CollectionKeys.isName(text) else { return [noName] }
    let place = CollectionPlace(
      table: view.table, name: try CollectionKeys(text, view.table), signature: header.signature)
    if header.signature.hasPrefix("array of ") { return try ArrayCheck(place, header).problems(parts, view) }
    if header.signature.hasPrefix("dictionary of ") || header.signature.hasPrefix("set of ") {
      return try ElementCheck(place).problems(parts, view)
    }
    return ["it is \(header.signature), which this release does not know"]
  }

  /// Of a header that was stored behind the collections' back: no handle takes such a name, and none reads what lies below it.
  private static let noName = "its name can be none: those have 1 to 200 bytes without '/', '#' and control characters"

  /// That of a node or page, as its key writes it: other forms of the same number are another key.
  static func number(_ bytes: some Collection<UInt8>) -> Int? {
    let text = String(decoding: bytes, as: UTF8.self)
    return Int(text).flatMap { $0 >= 0 && String($0) == text ? $0 : nil }
  }

  /// The first few of what may be a million.
  static func first<S: Sequence>(_ keys: S, _ sentence: (S.Element) -> String) -> [String] {
    var problems = FirstProblems()
    for key in keys { problems.add(sentence(key)) }
    return problems.all
  }
}

/// Arrays: the nodes are a tree, each where its parent says, and there are no others.
private struct ArrayCheck {
  private let place: CollectionPlace
  private let header: CollectionHeader
  private var seen: Set<Int> = []
  private var found = FirstProblems()

  init(_ place: CollectionPlace, _ header: CollectionHeader) {
    self.place = place
    self.header = header
  }

  func problems(_ parts: [[UInt8]], _ view: borrowing ReadView) throws -> [String] {
    let state = ArrayTree.State(header: header.numbers)
    guard state.isPossible else { return [CollectionPlace.contradiction] }
    var check = self
    if state.root > 0 { try check.visit(state.root, state.level, count: state.rooted, state.next, view) }
    if state.tail > 0 { try check.visit(state.tail, 0, count: nil, state.next, view) }
    // What lies below nodes that were not looked at is not known to belong to the array.
    if check.found.isFull { return check.found.all + ["so many nodes are wrong that no others were looked at"] }
    let others = parts.filter { CollectionCheck.number($0).map { !check.seen.contains($0) } ?? true }
    return check.found.all
      + CollectionCheck.first(others) { "the key '\(place.name.text)/\(String.printable($0))' is no node of it" }
  }

  /// Looks no further once enough nodes are wrong.
  /// - Parameter count: how many elements its parent says it has.
  private mutating func visit(
    _ id: Int, _ level: Int, count: Int?, _ next: Int, _ view: borrowing ReadView
  ) throws {
    if found.isFull { return }
    guard id < next, seen.insert(id).inserted else {
      found.add("node \(id) is named twice, or cannot be")
      return
    }
    let children = try unsafe place.name.withNumberedKey(id) { key throws(TableError) -> Outcome? in
      try unsafe view.withEntry(RawKey(key)) { entry throws(TableError) in Self.look(entry, level, count) }
    }
    switch children {
    case nil: found.add("node \(id) ('\(place.name.text)/\(id)') is missing, with \(count ?? 0) elements below it")
    case .wrong(let what): found.add("node \(id): \(what)")
    case .children(let children):
      for child in children { try visit(child.id, level - 1, count: child.count, next, view) }
    }
  }

  private enum Outcome {
    case wrong(String)
    case children([ArrayInner.Child])
  }

  private static func look(_ entry: borrowing EntryView, _ level: Int, _ count: Int?) -> Outcome {
    guard entry.hasForm(of: ArrayNodeBytes.self), let node = ArrayNodeSpan(entry.bytes) else {
      return .wrong("it is no node")
    }
    guard node.level == level else { return .wrong("it is of level \(node.level), not \(level)") }
    if level == 0 {
      if let count, node.count != count { return .wrong("it has \(node.count) elements, not \(count)") }
      // Where elements begin depends on their type; where they end does not.
      for index in 0..<node.count where node.range(index, alignment: 1) == nil {
        return .wrong("its element \(index) lies outside of it")
      }
      return .children([])
    }
    guard let inner = ArrayInner(node) else { return .wrong("its length or one of its children cannot be") }
    let sum = inner.children.reduce(0) { $0 &+ $1.count }
    if let count, sum != count { return .wrong("its children have \(sum) elements, not \(count)") }
    return .children(inner.children)
  }
}

/// Dictionaries and sets: each element is listed once, in the page that its key says, and there is no other.
private struct ElementCheck {
  private let place: CollectionPlace
  private let index: ElementIndex

  init(_ place: CollectionPlace) {
    self.place = place
    index = ElementIndex(place: place)
  }

  func problems(_ parts: [[UInt8]], _ view: borrowing ReadView) throws -> [String] {
    let state: ElementIndex.State?
    do throws(TableError) { state = try index.state(in: view) } catch {
      try Self.passOn(error)
      return [CollectionPlace.contradiction]
    }
    guard let state else { return [] }
    var (unreadable, misplaced, repeated) = (FirstProblems(), FirstProblems(), FirstProblems())
    var listed: Set<[UInt8]> = []
    var bytes = 0
    for number in 0..<state.pages {
      let page: ElementPage
      do throws(TableError) { page = try index.page(number, in: view) } catch {
        try Self.passOn(error)
        unreadable.add("page \(number) of its index cannot be read")
        continue
      }
      unsafe page.forEach { key in
        bytes += ElementPage.byteCount(key.count)
        let name = unsafe [UInt8](key)
        if unsafe state.page(of: key) != number { misplaced.add("\(quoted(name)) is listed in the wrong page") }
        if !listed.insert(name).inserted { repeated.add("\(quoted(name)) is listed twice") }
        return true
      }
    }
    var problems = unreadable.all + misplaced.all + repeated.all
    if listed.count != state.count {
      problems.append("its header counts \(state.count) elements, listed are \(listed.count)")
    }
    if bytes != state.bytes {
      problems.append("its header says its listings take \(state.bytes) bytes, they take \(bytes)")
    }
    return problems + compare(listed, parts, pages: state.pages)
  }

  /// - Throws: what says nothing of the collection: `snapshotTooOld`, for an observer.
  private static func passOn(_ error: TableError) throws(TableError) {
    if error.code != .damaged { throw error }
  }

  private func compare(_ listed: Set<[UInt8]>, _ parts: [[UInt8]], pages: Int) -> [String] {
    var stored: Set<[UInt8]> = []
    var strange: [[UInt8]] = []
    for part in parts {
      guard part.first == CollectionKeys.reserved else {
        stored.insert(part)
        continue
      }
      // An element's own first byte of 255 is doubled; else it is a page.
      if part.count > 1, part[1] == CollectionKeys.reserved {
        stored.insert(Array(part.dropFirst()))
      } else if !(CollectionCheck.number(part.dropFirst()).map { $0 < pages } ?? false) {
        strange.append(part)
      }
    }
    func sorted(_ keys: Set<[UInt8]>) -> [[UInt8]] { keys.sorted { $0.lexicographicallyPrecedes($1) } }
    return CollectionCheck.first(sorted(listed.subtracting(stored))) {
      "element \(quoted($0)) is listed, and its key is not there: removed, or expired, behind the collection's back"
    }
      + CollectionCheck.first(sorted(stored.subtracting(listed))) {
        "the key of \(quoted($0)) is there, and it is not listed: stored behind the collection's back"
      }
      + CollectionCheck.first(strange) { "the key of \(quoted($0)) is no element and no page of its index" }
  }

  /// A page may list what is longer than any key.
  private func quoted(_ key: [UInt8]) -> String {
    "'\(Table.keyLengths ~= key.count ? String.printable(key) : String.printableStart(key))'"
  }
}
