/// Makes whole revisions of the answers on a stream of events.
///
/// A revision counts as whole when an event of a later one has come, or the answer that ends it: one without `isFragment`. A sender that
/// catches up puts many revisions into one batch of fragments: those that are whole are not kept back until its end. What an answer says of where the sender
/// is moves nothing here: with releases of etcd up to 3.4.24 and 3.5.7 it may be ahead of events that are still to come, and who
/// resumed from it would lose them.
struct RevisionAssembler {
  /// The last revision that was handed out. What is not above it has been seen.
  private(set) var last: Int64
  private var fragments: [SourceEvent] = []
  /// That `fragments` take.
  private var bytes = 0
  private let mostBytes: Int

  /// - Parameter mostBytes: a revision that takes more is none that the table has room for. Without a bound, a sender that never ends one
  ///   would have all memory.
  init(after revision: Int64, mostBytes: Int = .max) {
    last = revision
    self.mostBytes = mostBytes
  }

  /// - Returns: the revisions that are whole with this answer, in their order.
  /// - Throws: `stopped` if the events are in no order that there can be, or one revision's are more than there can be.
  mutating func add(_ answer: WatchAnswer) throws(MirrorFailure) -> [SourceRevision] {
    fragments += answer.events
    bytes += Self.byteCount(answer.events[...])
    let newest = fragments.last?.revision ?? last
    let whole = answer.isFragment ? fragments.prefix { $0.revision < newest }.count : fragments.count
    let events = fragments[..<whole]
    defer { fragments.removeFirst(whole) }
    bytes -= Self.byteCount(events)
    guard bytes <= mostBytes else {
      throw .stopped(
        "the other store sent a revision of more than \(bytes) bytes, which the table has no room for; make the table anew with more "
          + "capacity, or look whether that is an etcd")
    }
    var revisions: [SourceRevision] = []
    for event in events {
      guard event.revision > 0 else { throw Self.malformed("an event of revision \(event.revision)") }
      // Seen before: a store may send an event twice, never one late.
      if event.revision <= last { continue }
      let newest = revisions.last?.number ?? last
      if event.revision < newest { throw Self.malformed("revision \(event.revision) behind \(newest)") }
      if event.revision > newest {
        revisions.append(SourceRevision(number: event.revision, events: [event]))
      } else {
        revisions[revisions.count - 1].events.append(event)
      }
    }
    last = revisions.last?.number ?? last
    return revisions
  }

  private static func byteCount(_ events: ArraySlice<SourceEvent>) -> Int {
    events.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) + MemoryLayout<SourceEvent>.stride }
  }

  private static func malformed(_ what: String) -> MirrorFailure {
    .stopped("the other store sent events that cannot be: \(what); is that an etcd of version 3.4 or later?")
  }
}
