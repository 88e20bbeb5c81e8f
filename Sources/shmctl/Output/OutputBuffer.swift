/// Output on its way to a descriptor, gathered so that each call of the system moves many bytes.
struct OutputBuffer {
  private let descriptor: Int32
  private let name: String
  private var gathered: [UInt8] = []
  /// Of all that was appended.
  private(set) var byteCount: UInt64 = 0

  private static let enough = 256 << 10

  /// - Parameter name: of the output, for messages.
  init(_ descriptor: Int32 = 1, _ name: String = "the output") {
    self.descriptor = descriptor
    self.name = name
  }

  mutating func append(_ bytes: [UInt8]) throws { try append(bytes[...]) }

  mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    byteCount += UInt64(bytes.count)
    if gathered.isEmpty, bytes.count >= Self.enough { return try Descriptor.writeAll(descriptor, bytes, name) }
    gathered += bytes
    if gathered.count >= Self.enough { try flush() }
  }

  mutating func append(line: String) throws { try append(Array("\(line)\n".utf8)) }

  /// Writes what is still here. Whoever made the buffer calls it at the end, and before a wait.
  mutating func flush() throws {
    try Descriptor.writeAll(descriptor, gathered, name)
    gathered.removeAll(keepingCapacity: true)
  }
}
