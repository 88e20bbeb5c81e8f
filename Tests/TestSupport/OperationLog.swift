/// What one process did to a table, in a file that survives its `kill -9`.
public final class OperationLog: Sendable {
  public enum Kind: UInt64, Sendable {
    /// A barrier begins that will commit as `version`; what it did follows, then `commit` or `abort`.
    case begin = 1
    case set, remove, readInside, commit, abort
    /// One value, read between the versions `version` and `other`.
    case get
    /// One value of the snapshot `version`; the section began when `other` was committed.
    case read
    /// Number of keys in the snapshot `version`.
    case count
  }

  public struct Record: Sendable {
    public let kind: Kind
    public let key: Int
    public let version: UInt64
    public let other: UInt64
    public let value: UInt64

    public init(_ kind: Kind, key: Int = 0, version: UInt64, other: UInt64 = 0, value: UInt64 = 0) {
      self.kind = kind
      self.key = key
      self.version = version
      self.other = other
      self.value = value
    }
  }

  private let records: RecordFile

  /// Maps a log, which is made if there is none.
  public init(path: String, capacity: Int) {
    records = RecordFile(path: path, wordsPerRecord: 4, capacity: capacity)
  }

  public var count: Int { records.count }

  public func append(_ record: Record) {
    records.append { words in
      words[0] = record.kind.rawValue | UInt64(record.key) << 8
      words[1] = record.version
      words[2] = record.other
      words[3] = record.value
    }
  }

  public subscript(index: Int) -> Record {
    let words = records[index]
    return Record(
      Kind(rawValue: words[0] & 0xff)!, key: Int(words[0] >> 8), version: words[1], other: words[2], value: words[3])
  }
}

/// A value that says by itself whether it is whole: `id` tells its length and every byte.
public enum TracedValue {
  public static func bytes(_ id: UInt64) -> [UInt8] {
    var generator = SplitMix(seed: id)
    var bytes = [UInt8](repeating: 0, count: 8 + length(generator.next()))
    withUnsafeBytes(of: id) { bytes.replaceSubrange(0..<8, with: $0) }
    for index in stride(from: 8, to: bytes.count, by: 8) {
      withUnsafeBytes(of: generator.next()) { word in
        for offset in 0..<min(8, bytes.count - index) { bytes[index + offset] = word[offset] }
      }
    }
    return bytes
  }

  /// The id of a value; nil if it is not whole.
  public static func id(_ bytes: [UInt8]) -> UInt64? { bytes.withUnsafeBytes { id(of: $0) } }

  /// The same in place, without a copy.
  public static func id(of bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count >= 8 else { return nil }
    let id = bytes.loadUnaligned(as: UInt64.self)
    var generator = SplitMix(seed: id)
    guard bytes.count == 8 + length(generator.next()) else { return nil }
    var index = 8
    while index < bytes.count {
      let word = generator.next()
      if index + 8 <= bytes.count {
        guard bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) == word else { return nil }
      } else {
        for offset in index..<bytes.count
        where bytes[offset] != UInt8(truncatingIfNeeded: word >> UInt64((offset - index) * 8)) {
          return nil
        }
      }
      index += 8
    }
    return id
  }

  /// How many bytes a value has.
  public static func byteCount(_ id: UInt64) -> Int {
    var generator = SplitMix(seed: id)
    return 8 + length(generator.next())
  }

  /// Mostly small, sometimes a run of frames.
  private static func length(_ choice: UInt64) -> Int {
    choice % 64 == 0 ? Int(choice >> 32 % 20_000) : Int(choice >> 32 % 300)
  }
}
