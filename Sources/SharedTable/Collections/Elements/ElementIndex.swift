import CShims
import TableEngine

/// Which elements a dictionary or a set has: the table finds keys by their hashes and would have to look at all of them to
/// find those of one collection.
///
/// A hash table of pages with linear hashing (Litwin, "Linear Hashing: A New Tool for File and Table Addressing", VLDB
/// 1980): it grows and shrinks by one page at a time, so that a change touches two or three pages at most. Page N lies
/// under `NAME/`, the byte 255 and N in decimal. The header holds what ``State`` says.
///
/// An element is *listed* once, in the page that its key's hash says, and the header's count is that of listed elements: all
/// changes of both are in the barrier that stores or removes the element. What is stored or removed by way of the table's own API
/// changes neither: a listed key without a value is passed over, a value without a listing is not found here.
@usableFromInline
struct ElementIndex: Sendable {
  let place: CollectionPlace

  @usableFromInline
  init(place: CollectionPlace) { self.place = place }

  /// The header's numbers.
  struct State: Equatable {
    /// How many elements are listed.
    var count = 0
    /// What their listings take in the pages.
    var bytes = 0
    /// Some of them may be empty; those are not stored.
    var pages = 0
    /// The seed of the hash, so that a program that chooses keys cannot put them all into one page; below 2^59, as a header's numbers are.
    var seed = 0

    /// What a page holds on the average before there are more.
    static let pageBytes = 512

    /// Is it worth a page more? Not more pages than elements: some elements are larger than a page.
    var isCrowded: Bool { bytes > pages * Self.pageBytes && pages < count }
    /// With room to spare, so that one element to and fro does not split and join each time.
    var isSparse: Bool { pages > 1 && bytes < (pages - 1) * (Self.pageBytes / 2) }

    /// Can a barrier have left this? What is not checked here bounds no loop and no memory.
    ///
    /// There may be more pages than the listings need: a removal that finds no room for a joined page leaves them. So it is the table that bounds their
    /// number: no more are ever needed than for listings that fill it.
    func isPossible(in table: Table) -> Bool {
      func isWithin(_ most: Int) -> Bool { bytes <= most && pages - 1 <= most / (Self.pageBytes / 2) }
      return bytes >= ElementPage.byteCount(0) * count && pages > 0
        && (isWithin(table.capacityBytes) || isWithin(table.reachableBytes))
    }

    /// Pages 0..<`round` have had the same number of splits, those before `pages - round` one more.
    var round: Int { 1 << (Int.bitWidth - 1 - pages.leadingZeroBitCount) }

    func page(of key: UnsafeRawBufferPointer) -> Int {
      // The hash takes an address, of no bytes too.
      let hash = unsafe withUnsafePointer(to: UInt8(0)) { empty in
        unsafe shm_hash(key.baseAddress ?? UnsafeRawPointer(empty), key.count, UInt64(seed))
      }
      let bits = Int(truncatingIfNeeded: hash & 0xffff_ffff)
      let page = bits & (2 * round - 1)
      return page < pages ? page : bits & (round - 1)
    }
  }

  /// Nil: the collection has no elements, and has had none since it was made or emptied.
  /// - Throws: what ``CollectionPlace/header(in:)`` throws; `damaged`.
  func state(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> State? {
    guard let numbers = try place.header(in: section) else { return nil }
    let state = State(count: numbers[0], bytes: numbers[1], pages: numbers[2], seed: numbers[3])
    guard state.isPossible(in: place.table) else {
      throw place.damaged(CollectionPlace.contradiction)
    }
    return state
  }

  /// How many elements are listed.
  @usableFromInline
  func count(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Int {
    try state(in: section)?.count ?? 0
  }

  /// - Throws: `damaged`.
  func page(
    _ number: Int, in section: borrowing some (TableSection & ~Copyable & ~Escapable)
  ) throws(TableError) -> ElementPage {
    let found = try place.name.withPageKey(number) { key throws(TableError) in try section.found(key) }
    guard let found else { return ElementPage() }
    guard found.hasForm(StoredForm(of: ElementPage.self)), let page = unsafe ElementPage(tableBytes: found.value) else {
      throw place.damaged("page \(number) of its index cannot be read")
    }
    return page
  }

  /// Visits the listed elements that are there, each with the bytes of its own key, until `body` returns false.
  ///
  /// Shows elements as bytes: code that handles values of a type which the compiler does not know asks the runtime about it for each element,
  /// which takes many times as long.
  /// - Throws: what `body` throws; `damaged`, also for an index that shows more bytes than the table holds: it shows some again and again.
  @usableFromInline
  func forEachElement(
    in section: borrowing some (TableSection & ~Copyable & ~Escapable),
    _ body: (UnsafeRawBufferPointer, EntryView) throws -> Bool
  ) throws {
    guard let state = try state(in: section) else { return }
    var bytesLeft = place.table.reachableBytes
    for number in 0..<state.pages {
      let page = try page(number, in: section)
      let goesOn = try unsafe page.forEach { bytes in
        bytesLeft -= ElementPage.byteCount(bytes.count)
        let found = try unsafe place.name.withKey(bytes: bytes) { key throws(TableError) in
          try unsafe key.withKeyBytes { key throws(TableError) in try section.found(unsafe tableKey(ofListed: key)) }
        }
        if let found { bytesLeft -= unsafe found.key.count + found.value.count }
        if bytesLeft < 0 { throw place.damaged("its index lists elements several times") }
        guard let found else { return true }
        return try unsafe body(bytes, EntryView(found))
      }
      if !goesOn { return }
    }
  }

  /// The bytes as the table's key of an element that a page lists.
  /// - Throws: `damaged` if they are longer than a table's keys are: no barrier has listed such an element.
  @inline(__always)
  private func tableKey(ofListed bytes: UnsafeRawBufferPointer) throws(TableError) -> RawKey {
    if bytes.count > Segment.maximumKeyLength { throw tooLongKey }
    return unsafe RawKey(bytes)
  }

  private var tooLongKey: TableError {
    @inline(never) get { place.damaged("its index lists an element whose key is longer than a table takes") }
  }

  /// The beginning of a barrier's changes.
  @usableFromInline
  func edit(in tx: borrowing Transaction) throws(TableError) -> ElementIndexEdit {
    ElementIndexEdit(self, try state(in: tx))
  }

  /// Removes all listed elements, the index and the header: the name is free for another type.
  func removeAll(in tx: inout Transaction) throws(TableError) {
    guard let state = try state(in: tx) else { return }
    try tx.withSavepoint { tx throws(TableError) in
      for number in 0..<state.pages {
        let page = try page(number, in: tx)
        try unsafe page.forEach { key throws(TableError) in
          try unsafe place.name.withKey(bytes: key) { key throws(TableError) in
            try unsafe key.withKeyBytes { key throws(TableError) in _ = try unsafe tx.remove(tableKey(ofListed: key)) }
          }
          return true
        }
        try place.name.withPageKey(number) { key throws(TableError) in _ = try tx.remove(key) }
      }
      try tx.remove(place.name.text)
    }
  }
}

/// One barrier's changes of the index and of elements: pages are read once and written once, at the end.
@usableFromInline
struct ElementIndexEdit {
  private let index: ElementIndex
  private var state: ElementIndex.State
  /// The page that was asked for last. It is not among the others: nearly every barrier changes one element, and meets one page.
  private var page = ElementPage()
  /// Its number.
  private var number: Int?
  private var others: [Int: ElementPage] = [:]
  /// Pages may have been left behind by a header that was removed.
  private let hasNoHeader: Bool
  /// A listing was added or removed.
  private var isChanged = false
  /// How many pages the removals of this barrier may give up: as many as they can make superfluous, whatever a wrong header says.
  private var joinsLeft = 0

  fileprivate init(_ index: ElementIndex, _ state: ElementIndex.State?) {
    self.index = index
    hasNoHeader = state == nil
    self.state = state ?? ElementIndex.State(pages: 1, seed: Int.random(in: 0..<1 << 59))
    if hasNoHeader {
      number = 0
      page = ElementPage(isChanged: true)
    }
  }

  /// Stores an element, and lists it if it was not there.
  @usableFromInline
  mutating func set(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, in tx: inout Transaction
  ) throws(TableError) {
    let wasThere = try unsafe index.place.name.withKey(bytes: key) { stored throws(TableError) in
      try unsafe stored.withKeyBytes { stored throws(TableError) in
        let wasThere = try unsafe tx.contains(RawKey(stored))
        try unsafe tx.store(stored, bytes, form, .never)
        return wasThere
      }
    }
    if hasNoHeader || !wasThere { try unsafe list(key, in: tx) }
  }

  /// Removes an element and its listing.
  /// - Returns: whether it was there.
  @usableFromInline
  mutating func remove(_ key: UnsafeRawBufferPointer, in tx: inout Transaction) throws(TableError) -> Bool {
    let wasThere = try unsafe index.place.name.withKey(bytes: key) { stored throws(TableError) in
      try unsafe stored.withKeyBytes { stored throws(TableError) in try unsafe tx.remove(bytes: stored) }
    }
    try unsafe unlist(key, in: tx)
    return wasThere
  }

  /// Lists a key, unless it is listed already.
  mutating func list(_ key: UnsafeRawBufferPointer, in tx: borrowing Transaction) throws(TableError) {
    try unsafe turn(to: state.page(of: key), in: tx)
    if unsafe page.contains(key) { return }
    isChanged = true
    unsafe page.append(key)
    state.count += 1
    state.bytes += ElementPage.byteCount(key.count)
    // As many as this key can make needed, whatever a wrong header says.
    for _ in 0...ElementPage.byteCount(key.count) / ElementIndex.State.pageBytes where state.isCrowded {
      try split(in: tx)
    }
  }

  /// Takes a key off its page, if it is listed.
  private mutating func unlist(_ key: UnsafeRawBufferPointer, in tx: borrowing Transaction) throws(TableError) {
    try unsafe turn(to: state.page(of: key), in: tx)
    guard unsafe page.remove(key) else { return }
    isChanged = true
    state.count = max(0, state.count - 1)
    state.bytes = max(0, state.bytes - ElementPage.byteCount(key.count))
    joinsLeft += 1 + ElementPage.byteCount(key.count) / (ElementIndex.State.pageBytes / 2)
  }

  /// Writes what has changed of the index, the header too.
  ///
  /// Pages of which there are too many are given up. In a full table they stay, and later removals give them up: a page that takes the
  /// elements of another needs more room than before, and what a full table keeps back for replacements is for those that need no more.
  @usableFromInline
  func store(in tx: inout Transaction) throws(TableError) {
    if !isChanged { return }
    if joinsLeft > 0, state.isSparse, try storeJoined(in: &tx) { return }
    try storePages(in: &tx)
  }

  /// - Returns: false with nothing done if there is no room.
  @inline(never)
  private func storeJoined(in tx: inout Transaction) throws(TableError) -> Bool {
    var joined = self
    while joined.joinsLeft > 0, joined.state.isSparse { try joined.join(in: tx) }
    do throws(TableError) {
      try tx.withSavepoint { tx throws(TableError) in try joined.storePages(in: &tx) }
      return true
    } catch {
      guard error.code == .full else { throw error }
      return false
    }
  }

  private func storePages(in tx: inout Transaction) throws(TableError) {
    if let number { try store(page, number, in: &tx) }
    for (number, page) in others { try store(page, number, in: &tx) }
    try index.place.setHeader([state.count, state.bytes, state.pages, state.seed, 0], in: &tx)
  }

  private func store(_ page: ElementPage, _ number: Int, in tx: inout Transaction) throws(TableError) {
    guard page.isChanged else { return }
    try index.place.name.withPageKey(number) { key throws(TableError) in
      if page.isEmpty { try tx.remove(key) } else { try tx.set(key, page) }
    }
  }

  /// Makes ``page`` that of the number.
  private mutating func turn(to other: Int, in tx: borrowing Transaction) throws(TableError) {
    if other == number { return }
    let next: ElementPage
    // A dictionary hashes the key before it finds that it is empty.
    if !others.isEmpty, let known = others.removeValue(forKey: other) {
      next = known
    } else {
      next = try index.page(other, in: tx)
    }
    if let number { others[number] = page }
    (number, page) = (other, next)
  }

  /// The page whose turn it is gives those away that the new last page's number takes. The others stay, also those whose hash says neither of
  /// both: a page that a load left there lists keys by another seed. What such a key's hash says is a page of others' keys, which is not read here.
  private mutating func split(in tx: borrowing Transaction) throws(TableError) {
    let from = state.pages - state.round
    try turn(to: from, in: tx)
    let old = page
    page = ElementPage(isChanged: true)
    state.pages += 1
    var last = ElementPage(isChanged: true)
    unsafe old.forEach { key in
      let belongsToLast = unsafe state.page(of: key) == state.pages - 1
      unsafe belongsToLast ? last.append(key) : page.append(key)
      return true
    }
    others[state.pages - 1] = last
  }

  /// The last page's elements go back to the one that it was split from.
  private mutating func join(in tx: borrowing Transaction) throws(TableError) {
    try turn(to: state.pages - 1, in: tx)
    let last = page
    page = ElementPage(isChanged: true)
    joinsLeft -= 1
    state.pages -= 1
    try turn(to: state.pages - state.round, in: tx)
    unsafe last.forEach { key in
      unsafe page.append(key)
      return true
    }
  }
}
