/// One command with its arguments, in the connection's buffer; the command's name is the first.
@safe
struct Request {
  private let base: UnsafeRawBufferPointer
  private let places: PlaceList

  @unsafe
  init(_ base: UnsafeRawBufferPointer, _ places: PlaceList) {
    unsafe self.base = base
    self.places = places
  }

  var count: Int { places.count }

  subscript(index: Int) -> Bytes {
    let place = places[index]
    return unsafe Bytes(UnsafeRawBufferPointer(rebasing: base[Int(place.start)..<Int(place.start + place.count)]))
  }

  /// A copy that outlives the buffer.
  var retained: RetainedRequest {
    var bytes: [UInt8] = []
    var places = PlaceList()
    bytes.reserveCapacity((0..<count).reduce(0) { $0 + Int(self.places[$1].count) })
    places.reserveCapacity(count)
    for index in 0..<count {
      let argument = self[index]
      places.append(PlaceList.Place(start: UInt32(bytes.count), count: UInt32(argument.count)))
      unsafe bytes.append(contentsOf: argument.raw)
    }
    return RetainedRequest(bytes: bytes, places: places)
  }
}

/// A request that waits: queued by MULTI, or written inline.
struct RetainedRequest {
  let bytes: [UInt8]
  let places: PlaceList

  init(bytes: [UInt8], places: PlaceList) {
    self.bytes = bytes
    self.places = places
  }

  init(_ arguments: [[UInt8]]) {
    var places = PlaceList()
    var start = 0
    for argument in arguments {
      places.append(PlaceList.Place(start: UInt32(start), count: UInt32(argument.count)))
      start += argument.count
    }
    self.places = places
    bytes = Array(arguments.joined())
  }

  func withRequest<R>(_ body: (Request) throws -> R) rethrows -> R {
    try unsafe bytes.withUnsafeBytes { bytes in try unsafe body(Request(bytes, places)) }
  }
}
