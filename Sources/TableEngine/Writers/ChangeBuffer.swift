import CShims

/// What a barrier of some keys has changed so far: in its process's memory, until it commits.
///
/// Used by the thread of its barrier only, like the barrier itself.
final class ChangeBuffer {
  /// What the barrier may read and change, with all that lies below.
  let locked: [[UInt8]]
  let timeoutNanoseconds: UInt64
  /// The newest change of each key, in the order in which the keys were first changed.
  private var changes: [BufferedEntry] = []
  /// Where in ``changes`` that of each key is. Empty while they are few enough to be looked through.
  private var places: [[UInt8]: Int] = [:]
  /// What each change replaced, oldest first: a savepoint is a number of them.
  private var replaced: [(place: Int, entry: BufferedEntry?)] = []
  /// Of the newest change of each key, with the keys.
  private(set) var byteCount = 0

  /// So many are looked through.
  private static var few: Int { 16 }

  init(locked: [[UInt8]], timeoutNanoseconds: UInt64) {
    self.locked = locked
    self.timeoutNanoseconds = timeoutNanoseconds
  }

  func covers(_ key: UnsafeRawBufferPointer) -> Bool {
    return locked.contains { unsafe $0.covers(key) }
  }

  func checkCovers(_ key: UnsafeRawBufferPointer) throws(EngineError) {
    if unsafe !covers(key) { throw .notLocked(unsafe String.printableStart(key)) }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// A key's newest change, be it a removal; nil if it was left alone.
  func entry(_ key: UnsafeRawBufferPointer) -> FoundEntry? { unsafe place(of: key).map { changes[$0].found } }

  private func place(of key: UnsafeRawBufferPointer) -> Int? {
    if changes.count > Self.few { return unsafe places[[UInt8](key)] }
    return changes.firstIndex { unsafe $0.found.key.count == key.count && $0.found.key.begins(with: key) }
  }

  func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes, version: UInt64
  ) {
    let meta = EntryMeta(keyLength: key.count, valueLength: value.count, attributes)
    unsafe change(key, to: BufferedEntry(meta, attributes, key, value, version: version))
  }

  func remove(_ key: UnsafeRawBufferPointer, version: UInt64) {
    let meta = EntryMeta(keyLength: key.count, valueLength: 0, type: 0, tombstone: true)
    let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe change(key, to: BufferedEntry(meta, ValueAttributes(), key, nothing, version: version))
  }

  private func change(_ key: UnsafeRawBufferPointer, to entry: BufferedEntry) {
    byteCount += entry.byteCount
    if let place = unsafe place(of: key) {
      byteCount -= changes[place].byteCount
      replaced.append((place, changes[place]))
      changes[place] = entry
    } else {
      replaced.append((changes.count, nil))
      changes.append(entry)
      notePlaces()
    }
  }

  /// After the last of the changes was added.
  private func notePlaces() {
    guard changes.count > Self.few else { return }
    for place in places.count..<changes.count { unsafe places[[UInt8](changes[place].found.key)] = place }
  }

  var savepoint: Int { replaced.count }

  func rollback(to savepoint: Int) {
    precondition(savepoint <= replaced.count, "a savepoint of another barrier")
    while replaced.count > savepoint {
      let (place, entry) = replaced.removeLast()
      byteCount += (entry?.byteCount ?? 0) - changes[place].byteCount
      if let entry {
        changes[place] = entry
      } else {
        // The last one: those that came after it have been taken back.
        let removed = changes.removeLast()
        if changes.count > Self.few {
          unsafe places[[UInt8](removed.found.key)] = nil
        } else {
          places = [:]
        }
      }
    }
  }

  /// The newest change of each key, in the order in which the keys were first changed.
  func forEach<E: Error>(_ body: (FoundEntry) throws(E) -> Void) throws(E) {
    for change in changes { try body(change.found) }
  }
}

/// An entry as in the table, in private memory.
@safe
private final class BufferedEntry {
  private let place: UnsafeMutableRawPointer
  let found: FoundEntry
  var byteCount: Int { found.meta.byteCount }

  init(
    _ meta: EntryMeta, _ attributes: ValueAttributes, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    version: UInt64
  ) {
    unsafe place = .allocate(byteCount: meta.byteCount, alignment: 16)
    unsafe found = FoundEntry(entry: UnsafeRawPointer(place), meta: meta)
    unsafe MappedMemory(base: place).storeEntry(0, meta, attributes, key, value, version: version, previous: 0)
  }

  deinit { unsafe place.deallocate() }
}
