/// Where the arguments of a request lie, from the start of its frame.
///
/// The memory of one request serves the next: it is neither given back nor made anew between two small ones. It belongs to the list alone,
/// so that a ``Request`` refers to it without counting references.
@safe
struct PlaceList: ~Copyable {
  struct Place {
    let start: UInt32
    let count: UInt32
  }

  /// More places than this are let go with their request.
  private static let mostKept = 1024

  private var memory: UnsafeMutablePointer<Place>?
  private(set) var capacity = 0
  private(set) var count = 0

  deinit { unsafe memory?.deallocate() }

  mutating func append(_ place: Place) {
    if count == capacity { grow() }
    unsafe (memory! + count).initialize(to: place)
    count += 1
  }

  private mutating func grow() {
    let larger = max(16, capacity * 2)
    let target = UnsafeMutablePointer<Place>.allocate(capacity: larger)
    if let memory = unsafe memory {
      unsafe target.moveInitialize(from: memory, count: count)
      unsafe memory.deallocate()
    }
    unsafe memory = target
    capacity = larger
  }

  mutating func removeAll() {
    count = 0
    if capacity > Self.mostKept {
      unsafe memory?.deallocate()
      unsafe memory = nil
      capacity = 0
    }
  }

  /// Valid until the list changes.
  @unsafe var places: UnsafeBufferPointer<Place> { unsafe UnsafeBufferPointer(start: memory, count: count) }
}
