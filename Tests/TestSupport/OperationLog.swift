import CShims
import Glibc

/// What one process did to a table, in a file that survives its `kill -9`.
///
/// A record is written before it is counted, so that what is counted is whole.
public final class OperationLog: @unchecked Sendable {
  // Sendable because one thread writes a log and others only read what is counted.
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

  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private static let headerBytes = 64
  private static let recordBytes = 32

  /// Maps a log, which is made if there is none.
  public init(path: String, capacity: Int) {
    self.capacity = capacity
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0, "cannot open the log \(path)")
    let size = Self.headerBytes + capacity * Self.recordBytes
    precondition(ftruncate(descriptor, size) == 0, "cannot size the log \(path)")
    let mapping = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    close(descriptor)
    precondition(mapping != MAP_FAILED, "cannot map the log \(path)")
    base = mapping!
  }

  deinit { munmap(base, Self.headerBytes + capacity * Self.recordBytes) }

  public var count: Int { Int(shm_load_acquire(base)) }

  public func append(_ record: Record) {
    let index = count
    precondition(index < capacity, "the log is full")
    let place = base + Self.headerBytes + index * Self.recordBytes
    place.storeBytes(of: record.kind.rawValue | UInt64(record.key) << 8, as: UInt64.self)
    place.storeBytes(of: record.version, toByteOffset: 8, as: UInt64.self)
    place.storeBytes(of: record.other, toByteOffset: 16, as: UInt64.self)
    place.storeBytes(of: record.value, toByteOffset: 24, as: UInt64.self)
    shm_store_release(base, UInt64(index + 1))
  }

  public subscript(index: Int) -> Record {
    let place = base + Self.headerBytes + index * Self.recordBytes
    let first = place.load(as: UInt64.self)
    return Record(
      Kind(rawValue: first & 0xff)!, key: Int(first >> 8), version: place.load(fromByteOffset: 8, as: UInt64.self),
      other: place.load(fromByteOffset: 16, as: UInt64.self), value: place.load(fromByteOffset: 24, as: UInt64.self))
  }
}

/// A value that says by itself whether it is whole: `id` tells its length and every byte.
public enum TracedValue {
  public static func bytes(_ id: UInt64) -> [UInt8] {
    var generator = SplitMix(seed: id)
    let choice = generator.next()
    // Mostly small, sometimes a run of frames.
    let length = choice % 64 == 0 ? Int(choice >> 32 % 20_000) : Int(choice >> 32 % 300)
    var bytes = [UInt8](repeating: 0, count: 8 + length)
    withUnsafeBytes(of: id) { bytes.replaceSubrange(0..<8, with: $0) }
    for index in stride(from: 8, to: bytes.count, by: 8) {
      withUnsafeBytes(of: generator.next()) { word in
        for offset in 0..<min(8, bytes.count - index) { bytes[index + offset] = word[offset] }
      }
    }
    return bytes
  }

  /// The id of a value; nil if it is not whole.
  public static func id(_ bytes: [UInt8]) -> UInt64? {
    guard bytes.count >= 8 else { return nil }
    let id = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    return bytes == self.bytes(id) ? id : nil
  }
}

/// Random numbers that depend on the seed alone (Steele, Lea and Flood 2014).
public struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
