import CShims
import Glibc
import SharedMemory

/// An observer's read section: one snapshot, and copies of what was read in it.
///
/// The copies live as long as the section, so that views work the same for participants and observers.
@safe @usableFromInline
final class Observation {
  let snapshot: UInt64
  private let data: MappedMemory
  // Used by one thread, in methods that do not call each other: to check each access for exclusivity would be a good
  // part of a look.
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
    unsafe copies.forEach { unsafe free($0) }
  }

  /// The version of a key that the snapshot sees, be it a tombstone or expired.
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> FoundEntry? {
    let place: Result<Place?, ObserverLookup.Inconsistent>
    do throws(ObserverLookup.Inconsistent) {
      place = .success(try unsafe lookup.find(key, hash: hash))
    } catch {
      place = .failure(error)
    }
    var found: FoundEntry?
    if case .success(let place?) = place { found = unsafe try copy(place, &copies) }
    _ = try unsafe lookup.meaning(of: place)
    return found
  }

  /// Where an entry lies whose bounds were checked.
  private typealias Place = (offset: Int, meta: EntryMeta)

  /// How much is copied at a time, if one entry is not larger.
  private static let copiedBytes = 1 << 20

  /// One sub-table: a walk says what of it the snapshot sees, and is validated before anything is shown. Then it is copied, a MiB at a
  /// time, and each part is validated before `body` sees it and goes when `body` has seen it: a scan must not need the size of a
  /// table in private memory, nor that of a sub-table, whose thousand values may be large.
  ///
  /// Where it throws, the cursor stays: `body` may have seen a part of the sub-table.
  func scan(_ cursor: inout ScanCursor, _ body: (FoundEntry) -> Bool) throws(EngineError) {
    guard let position = cursor.position else { return }
    var places: [Place] = []
    let walk: Result<Int, ObserverLookup.Inconsistent>
    do throws(ObserverLookup.Inconsistent) {
      walk = .success(try unsafe lookup.visit(hash: position) { places.append(($0, $1)) })
    } catch {
      walk = .failure(error)
    }
    var next = cursor
    next.advance(past: position, depth: try unsafe lookup.meaning(of: walk))
    var rest = places[...]
    while !rest.isEmpty, try showSome(&rest, body) {}
    cursor = next
  }

  /// Takes the first places, as many as are copied at a time.
  /// - Returns: whether `body` wants to see more.
  private func showSome(
    _ places: inout ArraySlice<Place>, _ body: (FoundEntry) -> Bool
  ) throws(EngineError) -> Bool {
    var found: [FoundEntry] = []
    var copies: [UnsafeMutableRawPointer] = unsafe []
    defer { unsafe copies.forEach { unsafe free($0) } }
    var byteCount = 0
    while let place = places.first, byteCount == 0 || byteCount + place.meta.byteCount <= Self.copiedBytes {
      places.removeFirst()
      found.append(unsafe try copy(place, &copies))
      byteCount += place.meta.byteCount
    }
    guard unsafe lookup.isStillValid else { throw .snapshotTooOld }
    for entry in found where !body(entry) { return false }
    return true
  }

  /// A private copy of an entry. Its bytes may be torn until it is validated.
  /// - Throws: `full` if the process has no room for it.
  private func copy(_ place: Place, _ copies: inout [UnsafeMutableRawPointer]) throws(EngineError) -> FoundEntry {
    guard let bytes = unsafe malloc(place.meta.byteCount) else {
      // A length that was loaded in a race may be any number.
      throw unsafe lookup.isStillValid ? .full(.addressSpace) : .snapshotTooOld
    }
    unsafe shm_copy_racy(bytes, data.pointer(place.offset), place.meta.byteCount)
    unsafe copies.append(bytes)
    return unsafe FoundEntry(entry: UnsafeRawPointer(bytes), meta: place.meta)
  }
}
