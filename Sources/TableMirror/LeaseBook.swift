import SharedTable
import ToolSupport

/// The leases of a mirror's keys: which keys each has, when each ends as last known, and the expiry that the table has for its keys.
///
/// A key must not expire before the other store removes it, as long as that store is followed: keepalives are no events, and who is late
/// with asking does not know of them. So while it is followed no key's expiry is nearer than a *grace*, which is moved on at each look
/// (``moves(now:grace:)``), and what a lease's end decides is what becomes of its keys when nobody does that any more.
struct LeaseBook {
  typealias ID = Int64

  private struct Lease {
    var keys: Set<[UInt8]> = []
    /// By the clock that nobody sets, as last known; nil: nothing is known.
    var end: UInt64?
    /// The end is what the table's expiry tells, and not the store.
    var isAssumed = false
    /// When to ask again, by the same clock.
    var nextLook: UInt64 = 0
    /// By the calendar, in the table; nil: its keys do not expire there.
    var stored: UInt64?
    /// Some of its keys have another expiry in the table than that, or none.
    var isUneven = false
  }

  /// The keys of a lease, and the expiry that they are to have.
  struct Move: Equatable {
    let lease: ID
    let keys: [[UInt8]]
    let expiry: UInt64
  }

  private var leases: [ID: Lease] = [:]
  private var leaseOf: [[UInt8]: ID] = [:]
  var count: Int { leases.count }

  // MARK: - Keys

  /// The expiry that a key of a lease is stored with; nil for none, as long as nothing is known of the lease.
  func expiry(of lease: ID) -> UInt64? { leases[lease]?.stored }

  /// What became of one key.
  struct Change {
    let key: [UInt8]
    /// 0: the key has none, or was removed.
    let lease: ID
    /// The one that the table has for the key; nil: none.
    let expiry: UInt64?
  }

  /// Takes what one revision has made of keys.
  ///
  /// A lease may lose its last key in a revision and get another one in the same. What is known of its end stays known then: the new key was
  /// stored with the expiry of the lease, and only by that end is it moved on as long as nobody answers.
  mutating func apply(_ changes: [Change]) {
    let losers = Set(changes.compactMap { put($0) })
    for lease in losers where leases[lease]?.keys.isEmpty == true { leases[lease] = nil }
  }

  /// - Returns: the lease that loses the key, if there is one.
  private mutating func put(_ change: Change) -> ID? {
    let former = leaseOf[change.key].flatMap { $0 == change.lease ? nil : $0 }
    if let former {
      leaseOf[change.key] = nil
      leases[former]!.keys.remove(change.key)
    }
    guard change.lease != 0 else { return former }
    leaseOf[change.key] = change.lease
    var entry = leases.removeValue(forKey: change.lease) ?? Lease(stored: change.expiry)
    entry.keys.insert(change.key)
    if entry.stored != change.expiry { entry.isUneven = true }
    // Until the mirror has asked the other store for the lease's end, it takes the nearest expiry of the lease's keys for it.
    if entry.end == nil, let expiry = change.expiry { entry.stored = min(entry.stored ?? expiry, expiry) }
    leases[change.lease] = entry
    return former
  }

  // MARK: - Ends

  /// The leases to ask for, the most urgent first. Each is asked for when half of what it had left has passed.
  /// - Parameter limit: at most so many.
  func due(now: UInt64, limit: Int) -> [ID] {
    let due = leases.filter { $0.value.nextLook <= now }
    guard due.count > limit else { return Array(due.keys) }
    return due.sorted { $0.value.nextLook < $1.value.nextLook }.prefix(limit).map(\.key)
  }

  /// The store has told how long a lease lasts.
  /// - Parameter left: in nanoseconds; nil: it does not know the lease. Its keys are being removed then, and stay until that comes.
  mutating func note(_ lease: ID, left: UInt64?, now: UInt64) {
    guard let known = leases[lease] else { return }
    let told = now + (left ?? 0)
    // Whole seconds that are cut off make one answer's end a little nearer than the last one's: a lease only becomes longer. That is so of
    // two answers alone: the table's expiry may be of another lease, or by a calendar that was set since.
    leases[lease]!.end = known.isAssumed ? told : max(known.end ?? now, told)
    leases[lease]!.isAssumed = false
    leases[lease]!.nextLook = now + (left ?? 0) / 2
  }

  /// Of a lease of which the table has an expiry, and nobody has asked yet, that is what is known of its end.
  mutating func assumeEnds(now: UpstreamStatus.Moment, grace: UInt64) {
    for (id, lease) in leases where lease.end == nil {
      guard let stored = lease.stored else { continue }
      let known = now.realtime + grace
      leases[id]!.end = now.monotonic + (stored > known ? stored - known : 0)
      leases[id]!.isAssumed = true
    }
  }

  // MARK: - Expiries

  /// What the table is to be told: of each lease whose keys' expiry there is not the end as known, or, where that is nearer than the
  /// grace, not the grace.
  func moves(now: UpstreamStatus.Moment, grace: UInt64) -> [Move] {
    leases.compactMap { id, lease in
      guard let end = lease.end else { return nil }
      let left = end > now.monotonic ? end - now.monotonic : 0
      let wanted = now.realtime + left + grace
      // A calendar that was set shows as an expiry that is not the wanted one. Its being slewed does not.
      let tolerance = grace / 8
      if let stored = lease.stored, !lease.isUneven, stored + tolerance > wanted, stored < wanted + tolerance {
        return nil
      }
      return Move(lease: id, keys: Array(lease.keys), expiry: wanted)
    }
  }

  /// The table has been told.
  mutating func note(_ move: Move) {
    leases[move.lease]?.stored = move.expiry
    leases[move.lease]?.isUneven = false
  }
}
