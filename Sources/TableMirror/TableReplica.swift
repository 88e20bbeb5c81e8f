import SharedMemory
import SharedTable
import ToolSupport

/// The table that mirrors, and what it says of itself: all changes of it are made here. One thread uses it.
///
/// Each change is one barrier, in which ``UpstreamStatus`` is stored too. So whoever reads finds the table at one revision, which it
/// names; and whoever goes on after a death, of this process or of the host, finds how far it is.
struct TableReplica {
  let table: Table
  let form: EntryForm
  private(set) var status: UpstreamStatus
  /// Of the keys that expire with their leases: none if the settings are to keep them.
  var leases = LeaseBook()
  /// What the table says of itself, as this side knows it; nil: nothing.
  private var text: String?

  /// - Throws: what reading throws. A table that says nothing of itself, or something that is none, has yet to be filled.
  init(_ table: Table, _ settings: MirrorSettings) throws(TableError) {
    self.table = table
    form = EntryForm(table: table.name, settings: settings)
    let contents = MirrorContents(settings).description
    var status = UpstreamStatus(.away, address: settings.address.description)
    text = try table.get(Table.Upstream.key, as: String.self)
    if let found = text.flatMap({ UpstreamStatus(text: $0) }) {
      status = found
      status.address = settings.address.description
      // The revision at which a mirror stopped is told again by events, whatever was done about it since. A read passes it over.
      if found.contents != contents || found.state == .stopped { status.isUnread = true }
    } else {
      status.isUnread = true
    }
    status.contents = contents
    status.writeSocketPath = settings.writeSocketPath
    self.status = status
  }

  // MARK: - Contents

  /// Makes the changes of one revision.
  mutating func apply(_ revision: SourceRevision) throws(MirrorFailure) {
    var next = status
    next.revision = revision.number
    let form = form
    let expiries = revision.events.map { expiry(of: $0) }
    try barrier("revision \(revision.number)", next) { tx throws(TableError) in
      for (event, expiry) in zip(revision.events, expiries) {
        try tx.make(event, form, expiry: expiry)
      }
    }
    note(revision.events, expiries)
  }

  /// Makes the table what the other store was at one revision, in one barrier: what is the same is not touched.
  /// - Returns: how many keys were stored, and how many removed.
  @discardableResult
  mutating func replace(
    with contents: SourceContents, asOf look: FreshnessTracker.Look
  ) throws(MirrorFailure) -> (stored: Int, removed: Int) {
    var next = status
    (next.state, next.problem, next.isUnread) = (.following, "", false)
    let position = contents.position
    (next.cluster, next.revision, next.term) = (position.cluster, position.revision, position.term)
    (next.asOf, next.asOfMonotonic) = (look.realtime, look.monotonic)
    var (stored, removed) = (0, 0)
    var found = LeaseBook()
    let (form, isEmpty) = (form, table.count == 0)
    try barrier("what the other store holds at revision \(position.revision)", next) { tx throws(TableError) in
      (stored, removed) = (0, isEmpty ? 0 : try tx.removeKeys(notIn: contents, form))
      found = LeaseBook()
      for page in contents.pages { stored += try tx.store(page, form, &found) }
    }
    found.assumeEnds(now: .now, grace: form.leaseGrace)
    leases = found
    return (stored, removed)
  }

  // MARK: - State

  /// Says what becomes of changes. Nothing if the table says so already.
  /// - Parameter term: of a look, if there was one.
  mutating func note(
    _ state: UpstreamStatus.State, _ problem: String = "", term: UInt64 = 0
  ) throws(MirrorFailure) {
    var next = status
    (next.state, next.problem, next.term) = (state, problem, max(next.term, term))
    // By the text: the table's is cut, and without control characters.
    if next.text == text { return }
    try barrier("the mirror's state", next) { _ throws(TableError) in }
  }

  /// Says that the table is as new as a look at the other store.
  mutating func note(asOf look: FreshnessTracker.Look) throws(MirrorFailure) {
    var next = status
    (next.asOf, next.asOfMonotonic) = (look.realtime, look.monotonic)
    next.term = max(next.term, look.term)
    try barrier("the mirror's age", next) { _ throws(TableError) in }
  }

  /// Runs a barrier that stores a status with it; takes the status over if it is committed.
  private mutating func barrier(
    _ what: String, _ next: UpstreamStatus, _ body: (inout Transaction) throws(TableError) -> Void
  ) throws(MirrorFailure) {
    do throws(TableError) { try barrier(next, body) } catch { throw MirrorFailure(error, what) }
  }

  mutating func barrier(
    _ next: UpstreamStatus, _ body: (inout Transaction) throws(TableError) -> Void
  ) throws(TableError) {
    let (before, after) = (text, next.text)
    try table.mirrorBarrier { tx throws(TableError) in
      // Another process that mirrors into the same table would apply again what is there, or skip what is not.
      guard try tx.get(Table.Upstream.key, as: String.self) == before else {
        throw TableError(.timedOut, table: table.name, "another process mirrors into it, too; stop one of the two")
      }
      try body(&tx)
      try unsafe Table.Upstream.key.withKeyBytes { key throws(TableError) in
        try unsafe after.withKeyBytes { text throws(TableError) in try unsafe tx.put(key, text, .string) }
      }
    }
    (status, text) = (next, after)
  }
}

extension Transaction {
  /// Stores or removes the event's key.
  fileprivate mutating func make(_ event: SourceEvent, _ form: EntryForm, expiry: UInt64?) throws(TableError) {
    try unsafe event.key.withKeyBytes { key throws(TableError) in
      let key = try unsafe form.tableKey(key)
      guard let value = event.value else { return _ = try unsafe take(key) }
      try unsafe value.withKeyBytes { value throws(TableError) in
        try unsafe form.naming(key) { () throws(TableError) in
          try unsafe put(key, value, form.type(of: value), expiry: expiry)
        }
      }
    }
  }

  /// Removes what the other store does not have.
  /// - Returns: how many keys.
  fileprivate mutating func removeKeys(
    notIn contents: SourceContents, _ form: EntryForm
  ) throws(TableError) -> Int {
    let prefix = form.prefix
    return try unsafe removeKeys { key in
      unsafe !key.elementsEqual(Table.Upstream.key.utf8) && !contents.contains(prefix + key)
    }
  }

  /// Stores a page's keys where the table has not the same, and notes their leases.
  /// - Returns: how many were stored.
  fileprivate mutating func store(
    _ page: ContentPage, _ form: EntryForm, _ leases: inout LeaseBook
  ) throws(TableError) -> Int {
    var stored = 0
    let soon = UpstreamStatus.Moment.now.realtime + form.leaseGrace / 2
    for index in 0..<page.count {
      let lease = form.expiresLeases ? page.lease(index) : 0
      try unsafe page.withEntry(index) { key, value throws(TableError) in
        let key = try unsafe form.tableKey(key)
        try unsafe form.naming(key) { () throws(TableError) in
          // An expiry that is over, or could be before the next look, goes: the lease lives over there.
          let (isStored, expiry) = try unsafe replace(
            key, value, type: form.type(of: value), keepingExpiryFrom: lease == 0 ? nil : soon)
          if isStored { stored += 1 }
          if lease != 0 { leases.apply([.init(key: unsafe [UInt8](key), lease: lease, expiry: expiry)]) }
        }
      }
    }
    return stored
  }
}

extension MirrorFailure {
  /// What an error of the table means to its mirror.
  init(_ error: TableError, _ what: String) {
    switch error.code {
    case .timedOut, .busy, .slotsExhausted: self = .away("\(what) waits for the table: \(error.message)")
    case .full where error.mayFitLater: self = .away("\(what) waits for room: \(error.message)")
    case .full:
      self = .stopped("\(what) does not fit: \(error.message); then have shmd read its configuration again")
    default: self = .stopped("\(what) cannot be stored: \(error.message)")
    }
  }
}
