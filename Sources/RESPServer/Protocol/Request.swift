/// One command with its arguments, in the connection's buffer; the command's name is the first. Valid while its command runs: it counts
/// no reference to the buffer, and none to the places.
@safe
struct Request {
  private let base: UnsafeRawBufferPointer
  private let places: UnsafeBufferPointer<PlaceList.Place>

  @unsafe
  init(_ base: UnsafeRawBufferPointer, _ places: UnsafeBufferPointer<PlaceList.Place>) {
    unsafe self.base = base
    unsafe self.places = places
  }

  var count: Int { unsafe places.count }

  /// The command's name, as errors call it.
  var name: String { self[0].lowercased }

  subscript(index: Int) -> Bytes {
    @inline(__always)
    get {
      precondition(index >= 0 && index < count, "a request has no such argument")
      let place = unsafe places[index]
      return unsafe Bytes(
        UnsafeRawBufferPointer(start: base.baseAddress.map { unsafe $0 + Int(place.start) }, count: Int(place.count)))
    }
  }

  /// A copy that outlives the buffer.
  var retained: RetainedRequest {
    var bytes: [UInt8] = []
    var copies: [PlaceList.Place] = []
    bytes.reserveCapacity((0..<count).reduce(0) { $0 + self[$1].count })
    copies.reserveCapacity(count)
    for index in 0..<count {
      let argument = self[index]
      copies.append(PlaceList.Place(start: UInt32(bytes.count), count: UInt32(argument.count)))
      unsafe bytes.append(contentsOf: argument.raw)
    }
    return RetainedRequest(bytes: bytes, places: copies)
  }
}

/// A request that waits: queued by MULTI, or written inline.
struct RetainedRequest {
  let bytes: [UInt8]
  let places: [PlaceList.Place]

  fileprivate init(bytes: [UInt8], places: [PlaceList.Place]) {
    self.bytes = bytes
    self.places = places
  }

  init(_ arguments: [[UInt8]]) {
    var start = 0
    places = arguments.map { argument in
      defer { start += argument.count }
      return PlaceList.Place(start: UInt32(start), count: UInt32(argument.count))
    }
    bytes = Array(arguments.joined())
  }

  func withRequest<R>(_ body: (Request) throws -> R) rethrows -> R {
    try unsafe bytes.withUnsafeBytes { bytes in
      try unsafe places.withUnsafeBufferPointer { places in try unsafe body(Request(bytes, places)) }
    }
  }
}
