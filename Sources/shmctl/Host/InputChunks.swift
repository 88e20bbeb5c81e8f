import Glibc

/// What an input brings, read by read.
struct InputChunks {
  private let input: InputFile
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ input: InputFile) { self.input = input }

  /// What the next read brings; nil at the end.
  mutating func next() throws -> ArraySlice<UInt8>? {
    let count = try input.read(into: &buffer)
    return count > 0 ? buffer[..<count] : nil
  }
}
