import Glibc
import SharedTable

/// Where a value comes from: the command line, standard input, a file.
enum ValueSource {
  /// The bytes of a value that stands on the command line, or of standard input for `-`.
  static func bytes(_ value: RawArgument, for table: Table) throws -> [UInt8] {
    value.isStandardInput ? try read(0, "standard input", table) : value.bytes
  }

  static func bytes(ofFile path: RawArgument, for table: Table) throws -> [UInt8] {
    let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
    let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      throw Complaint(.failure, "cannot read '\(path.shown)': \(Descriptor.reason); name a file that you may read")
    }
    defer { close(descriptor) }
    return try read(descriptor, "'\(path.shown)'", table)
  }

  /// At most one byte more than the table takes: an endless input ends there.
  private static func read(_ descriptor: Int32, _ what: String, _ table: Table) throws -> [UInt8] {
    let limit = table.maximumValueLength
    let bytes = try Descriptor.readAll(descriptor, limit: limit)
    if bytes.count > limit {
      throw TableError(
        .tooLarge, table: table.name,
        "\(what) has more than the \(limit) bytes that this table takes; store it in parts, or make a table of more "
          + "capacity")
    }
    return bytes
  }
}
