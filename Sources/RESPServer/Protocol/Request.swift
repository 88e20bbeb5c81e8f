/// One command with its arguments, in the connection's buffer; the command's name is the first. Valid while its command runs: it counts
/// no reference to the buffer, and none to the ranges.
@safe
struct Request {
  private let base: UnsafeRawBufferPointer
  private let ranges: UnsafeBufferPointer<ArgumentRanges.ByteRange>

  @unsafe
  init(_ base: UnsafeRawBufferPointer, _ ranges: UnsafeBufferPointer<ArgumentRanges.ByteRange>) {
    unsafe self.base = base
    unsafe self.ranges = ranges
  }

  var count: Int { unsafe ranges.count }

  /// The command's name, as errors call it.
  var name: String { self[0].lowercased }

  subscript(index: Int) -> Bytes {
    @inline(__always)
    get {
      precondition(index >= 0 && index < count, "a request has no such argument")
      let range = unsafe ranges[index]
      return unsafe Bytes(
        UnsafeRawBufferPointer(start: base.baseAddress.map { unsafe $0 + Int(range.start) }, count: Int(range.count)))
    }
  }

  /// A copy that outlives the buffer.
  var retained: RetainedRequest {
    var bytes: [UInt8] = []
    var copies: [ArgumentRanges.ByteRange] = []
    bytes.reserveCapacity((0..<count).reduce(0) { $0 + self[$1].count })
    copies.reserveCapacity(count)
    for index in 0..<count {
      let argument = self[index]
      copies.append(ArgumentRanges.ByteRange(start: UInt32(bytes.count), count: UInt32(argument.count)))
      unsafe bytes.append(contentsOf: argument.raw)
    }
    return RetainedRequest(bytes: bytes, ranges: copies)
  }
}

/// A request that waits: queued by MULTI, or written inline.
struct RetainedRequest {
  let bytes: [UInt8]
  let ranges: [ArgumentRanges.ByteRange]

  fileprivate init(bytes: [UInt8], ranges: [ArgumentRanges.ByteRange]) {
    self.bytes = bytes
    self.ranges = ranges
  }

  init(_ arguments: [[UInt8]]) {
    var start = 0
    ranges = arguments.map { argument in
      defer { start += argument.count }
      return ArgumentRanges.ByteRange(start: UInt32(start), count: UInt32(argument.count))
    }
    bytes = Array(arguments.joined())
  }

  func withRequest<R>(_ body: (Request) throws -> R) rethrows -> R {
    try unsafe bytes.withUnsafeBytes { bytes in
      try unsafe ranges.withUnsafeBufferPointer { ranges in try unsafe body(Request(bytes, ranges)) }
    }
  }
}
