import SharedTable

/// Where a value comes from: the command line, standard input, a file.
enum ValueSource {
  /// The bytes of a value that stands on the command line, or of standard input for `-`.
  static func bytes(_ value: RawArgument, for table: Table) throws -> [UInt8] {
    value.isStandardInput ? try read(.standardInput, table) : value.bytes
  }

  /// - Parameter path: `-` is standard input.
  static func bytes(ofFile path: RawArgument, for table: Table) throws -> [UInt8] {
    try read(InputFile(path), table)
  }

  /// At most one byte more than the table takes: an endless input ends there.
  private static func read(_ input: InputFile, _ table: Table) throws -> [UInt8] {
    let limit = table.maximumValueLength
    let bytes = try input.readAll(limit: limit)
    if bytes.count > limit {
      throw TableError(
        .tooLarge, table: table.name,
        "\(input.name) has more than the \(limit) bytes that this table takes; store it in parts, or make a table of more "
          + "capacity")
    }
    return bytes
  }
}
