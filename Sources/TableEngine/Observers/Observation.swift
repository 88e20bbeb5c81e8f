import CShims
import SharedMemory

/// An observer's read section: one snapshot, and copies of what was read in it.
///
/// The copies live as long as the section, so that views work the same for participants and observers.
@safe @usableFromInline
final class Observation {
  let snapshot: UInt64
  private let data: Memory
  // One thread's, in methods that do not call each other: checking that at each access is a good part of a look.
  @exclusivity(unchecked) private var lookup: ObserverLookup
  @exclusivity(unchecked) private var copies: [UnsafeMutableRawPointer] = unsafe []

  /// - Throws: `busy` if the rwlock variant's barrier does not end in time.
  init(_ segment: Segment, timeoutNanoseconds: UInt64) throws(EngineError) {
    unsafe lookup = try ObserverLookup(segment, timeoutNanoseconds: timeoutNanoseconds)
    snapshot = unsafe lookup.snapshot
    data = segment.data
  }

  /// Joins the snapshot of an outer section.
  init(_ segment: Segment, snapshot: UInt64, sequence: UInt64) {
    unsafe lookup = ObserverLookup(segment, snapshot: snapshot, sequence: sequence)
    self.snapshot = snapshot
    data = segment.data
  }

  var sequence: UInt64 { unsafe lookup.sequence }

  deinit {
    unsafe copies.forEach { unsafe $0.deallocate() }
  }

  /// The version of a key that the snapshot sees, be it a tombstone or expired.
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> FoundEntry? {
    var copy: FoundEntry?
    let result: Result<Void, ObserverLookup.Inconsistent>
    do throws(ObserverLookup.Inconsistent) {
      if let (entry, meta) = try unsafe lookup.find(key, hash: hash) { copy = unsafe self.copy(entry, meta, &copies) }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    try unsafe lookup.settle(result)
    return copy
  }

  /// One sub-table, validated as a whole before `body` sees the first entry. Its copies go when `body` has seen them: a
  /// scan of a large table must not need its size in private memory.
  func scan(_ cursor: inout ScanCursor, _ body: (FoundEntry) -> Bool) throws(EngineError) {
    guard let position = cursor.position else { return }
    var found: [FoundEntry] = []
    var copies: [UnsafeMutableRawPointer] = unsafe []
    defer { unsafe copies.forEach { unsafe $0.deallocate() } }
    let result: Result<Int, ObserverLookup.Inconsistent>
    do throws(ObserverLookup.Inconsistent) {
      result = .success(
        try unsafe lookup.visit(hash: position) { entry, meta in unsafe found.append(copy(entry, meta, &copies)) })
    } catch {
      result = .failure(error)
    }
    cursor.advance(past: position, depth: try unsafe lookup.settle(result))
    for entry in found where !body(entry) { return }
  }

  /// A private copy of an entry whose bounds were checked. Its bytes may be torn until the walk is validated.
  private func copy(_ entry: Int, _ meta: EntryMeta, _ copies: inout [UnsafeMutableRawPointer]) -> FoundEntry {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: meta.byteCount, alignment: 16)
    unsafe shm_copy_racy(bytes, data.pointer(entry), meta.byteCount)
    unsafe copies.append(bytes)
    return unsafe FoundEntry(entry: UnsafeRawPointer(bytes), meta: meta)
  }
}
