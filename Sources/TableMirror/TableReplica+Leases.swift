import SharedMemory
import SharedTable

/// Keys that expire with their leases.
extension TableReplica {
  /// So many keys, and about so many bytes of them, have their expiry moved in one barrier: it holds up other writers no longer.
  private static let mostKeys = 1024
  private static let mostBytes = 1 << 20

  /// The expiry with which an event's key is stored; nil: none.
  func expiry(of event: SourceEvent) -> UInt64? { form.expiresLeases ? leases.expiry(of: event.lease) : nil }

  /// The events of one revision were made, their keys stored with these expiries.
  mutating func note(_ events: [SourceEvent], _ expiries: [UInt64?]) {
    guard form.expiresLeases else { return }
    leases.apply(
      zip(events, expiries).map { event, expiry in
        let key = Array(event.key[form.prefix.count...])
        return LeaseBook.Change(key: key, lease: event.value == nil ? 0 : event.lease, expiry: expiry)
      })
  }

  /// The leases to ask for now.
  func dueLeases(limit: Int) -> [LeaseBook.ID] { leases.due(now: HostClock.monotonicNanoseconds, limit: limit) }

  mutating func note(_ answers: [LeaseTTLQuery.Answer]) {
    for answer in answers { leases.note(answer.lease, left: answer.left, now: answer.moment) }
  }

  /// Sees to it that no key of a lease expires before its lease ends, as known, nor soon: for who follows.
  mutating func moveExpiries() throws(MirrorFailure) {
    let moves = leases.moves(now: .now, grace: form.leaseGrace)
    try put(moves.flatMap { move in move.keys.map { ($0, move.expiry) } })
    for move in moves { leases.note(move) }
  }

  private mutating func put(_ expiries: [(key: [UInt8], expiry: UInt64)]) throws(MirrorFailure) {
    var (start, limit) = (0, Self.mostKeys)
    while start < expiries.count {
      let end = min(start + limit, expiries.count)
      var done = start
      do throws(TableError) {
        try barrier(status) { tx throws(TableError) in
          var bytes = 0
          done = start
          while done < end, bytes < Self.mostBytes {
            bytes += try tx.put(expiry: expiries[done].expiry, of: expiries[done].key)
            done += 1
          }
        }
        start = done
      } catch {
        // Each is stored anew beside what it was: in a table that is nearly full, fewer at a time.
        guard error.mayFitAfterReclaiming, end - start > 1 else {
          throw MirrorFailure(error, "the expiry of keys with leases")
        }
        limit = (end - start) / 2
      }
    }
  }
}
