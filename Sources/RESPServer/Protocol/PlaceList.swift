/// Where the arguments of a request lie, from the start of its frame.
///
/// The memory of one request serves the next: it is neither given back nor made anew between two small ones, also while the one that
/// was answered is still held.
struct PlaceList {
  struct Place {
    let start: UInt32
    let count: UInt32
  }

  /// More places than this are let go with their request.
  private static let mostKept = 1024

  /// The first ``count`` of them are this request's.
  private var places: [Place] = []
  private(set) var count = 0

  var capacity: Int { places.capacity }

  mutating func reserveCapacity(_ capacity: Int) { places.reserveCapacity(capacity) }

  mutating func append(_ place: Place) {
    if count < places.count { places[count] = place } else { places.append(place) }
    count += 1
  }

  mutating func removeAll() {
    if places.count > Self.mostKept { places = [] }
    count = 0
  }

  subscript(index: Int) -> Place {
    precondition(index < count, "a request has no such argument")
    return places[index]
  }
}
