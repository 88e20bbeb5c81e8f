import Glibc
import SharedTable

/// The operations that `bench` and `plot latency` time.
enum BenchRun {
  /// Single gets into a buffer, in random order: what a get costs whose key is not the last one's neighbour.
  static func gets(_ table: Table, _ keys: [[UInt8]], milliseconds: UInt64) throws -> LatencySample {
    // Most of the clock's own time is taken off, but not its granularity.
    var place = [UInt8](repeating: 0, count: 4096)
    var random = SmallRandom()
    return try unsafe place.withUnsafeMutableBytes { buffer in
      try LatencySample.measure(milliseconds: milliseconds) {
        let key = keys[random.below(keys.count)]
        _ = try unsafe key.withUnsafeBytes { key in unsafe try table.get(key, into: buffer) }
      }
    }
  }

  static func sets(_ table: Table, _ keys: [[UInt8]], _ value: [UInt8], milliseconds: UInt64) throws -> LatencySample {
    var random = SmallRandom()
    return try LatencySample.measure(milliseconds: milliseconds) {
      try table.set(keys[random.below(keys.count)], value)
    }
  }

  /// Barriers of a hundred sets each.
  static func barriers(_ table: Table, _ keys: [[UInt8]], _ value: [UInt8], milliseconds: UInt64) throws
    -> LatencySample
  {
    var random = SmallRandom()
    return try LatencySample.measure(milliseconds: milliseconds) {
      try table.barrier { tx in
        for _ in 0..<100 { try tx.set(keys[random.below(keys.count)], value) }
      }
    }
  }
}
