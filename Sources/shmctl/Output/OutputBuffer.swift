/// Output on its way to a descriptor, written in pieces large enough to be cheap.
struct OutputBuffer {
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  private static let pieceLength = 1 << 16

  init(descriptor: Int32 = 1) { self.descriptor = descriptor }

  mutating func append(_ more: some Sequence<UInt8>) throws {
    bytes += more
    if bytes.count >= Self.pieceLength { try flush() }
  }

  mutating func append(line: String) throws { try append(Array("\(line)\n".utf8)) }

  /// Writes what is still here. Whoever made the buffer calls it at the end, and before a wait.
  mutating func flush() throws {
    try Descriptor.writeAll(descriptor, bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}
