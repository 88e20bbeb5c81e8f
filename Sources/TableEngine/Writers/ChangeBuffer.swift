import CShims

/// What a barrier of some keys has changed so far: in its process's memory, until it commits.
///
/// Used by the thread of its barrier only, like the barrier itself.
final class ChangeBuffer {
  /// What the barrier may read and change, with all that lies below.
  let locked: [[UInt8]]
  let timeoutNanoseconds: UInt64
  /// The newest change of each key; the order is that of the first change of each.
  private var changes: [[UInt8]: BufferedEntry] = [:]
  private var order: [[UInt8]] = []
  /// What each change replaced, oldest first: a savepoint is a number of them.
  private var replaced: [(key: [UInt8], entry: BufferedEntry?)] = []
  /// Of the newest change of each key, with the keys.
  private(set) var byteCount = 0

  init(locked: [[UInt8]], timeoutNanoseconds: UInt64) {
    self.locked = locked
    self.timeoutNanoseconds = timeoutNanoseconds
  }

  func covers(_ key: UnsafeRawBufferPointer) -> Bool {
    return locked.contains { unsafe $0.covers(key) }
  }

  func checkCovers(_ key: UnsafeRawBufferPointer) throws(EngineError) {
    if unsafe !covers(key) { throw .notClaimed(unsafe String.printableStart(key)) }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// A key's newest change, be it a removal; nil if it was left alone.
  func entry(_ key: UnsafeRawBufferPointer) -> FoundEntry? { unsafe changes[[UInt8](key)]?.found }

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
    let key = unsafe [UInt8](key)
    let old = changes.updateValue(entry, forKey: key)
    if old == nil { order.append(key) }
    replaced.append((key, old))
    byteCount += entry.found.meta.byteCount - (old?.found.meta.byteCount ?? 0)
  }

  var savepoint: Int { replaced.count }

  func rollback(to savepoint: Int) {
    precondition(savepoint <= replaced.count, "a savepoint of another barrier")
    while replaced.count > savepoint {
      let (key, entry) = replaced.removeLast()
      byteCount += (entry?.found.meta.byteCount ?? 0) - changes[key]!.found.meta.byteCount
      changes[key] = entry
      if entry == nil { order.removeLast() }
    }
  }

  /// The newest change of each key, in the order in which the keys were first changed.
  func forEach<E: Error>(_ body: (FoundEntry) throws(E) -> Void) throws(E) {
    for key in order { try body(changes[key]!.found) }
  }
}

/// An entry as in the table, in private memory.
@safe
private final class BufferedEntry {
  private let place: UnsafeMutableRawPointer
  let found: FoundEntry

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
