import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Many keys at once must come out as one by one.
@Suite struct ManyKeysTests {
  private let stride = 256

  /// What a key's value is, nil where there is none; longer than `stride` for some.
  private func expected(_ number: Int) -> [UInt8]? {
    switch number % 7 {
    case 3: nil  // never stored
    case 5: nil  // expired
    case 6: [UInt8](repeating: UInt8(number & 0xff), count: 300)
    default: [UInt8](repeating: UInt8(number & 0xff), count: number % 200)
    }
  }

  private func key(_ number: Int) -> [UInt8] { Array("key \(100_000 + number)".utf8) }

  private func fill(_ table: Table, count: Int, clock: TestClock) throws {
    for number in 0..<count where number % 7 != 3 {
      let expires: Expiration =
        switch number % 7 {
        case 4: .at(nanosecondsSince1970: clock.now + 1)
        case 5: .at(nanosecondsSince1970: clock.now)
        default: .never
        }
      try table.set(key(number), expected(number) ?? [1], expires: expires)
    }
  }

  private func get(_ table: Table, _ numbers: [Int]) throws -> (lengths: [Int], bytes: [UInt8]) {
    let keys = numbers.flatMap { key($0) }
    var bytes = [UInt8](repeating: 0xee, count: numbers.count * stride)
    var lengths = [Int](repeating: -7, count: numbers.count)
    try keys.withUnsafeBytes { keys in
      try bytes.withUnsafeMutableBytes { bytes in
        try lengths.withUnsafeMutableBufferPointer { lengths in
          try table.get(keys: keys, keyLength: key(0).count, into: bytes, stride: stride, lengths: lengths)
        }
      }
    }
    return (lengths, bytes)
  }

  @Test(arguments: Setting.all) func manyKeysComeOutAsOneByOne(_ setting: Setting) throws {
    let clock = TestClock()
    try setting.with(clock: clock) { table, reader throws in
      try fill(table, count: 3000, clock: clock)
      var generator = SplitMix(seed: 11)
      for count in [1, 2, 31, 32, 33, 500] {
        let numbers = (0..<count).map { _ in generator.below(3000) }
        let (lengths, bytes) = try get(reader, numbers)
        for (index, number) in numbers.enumerated() {
          let wanted = expected(number)
          #expect(lengths[index] == wanted?.count ?? -1, "key \(number) of \(count)")
          let found = Array(bytes[(index * stride)..<(index * stride + stride)])
          let copied = wanted.flatMap { $0.count <= stride ? $0 : nil } ?? []
          #expect(found.starts(with: copied), "key \(number) of \(count)")
          #expect(found[copied.count...].allSatisfy { $0 == 0xee }, "nothing is written behind a value")
        }
      }
    }
  }

  @Test(arguments: Setting.all) func manyKeysInASectionAreOfItsSnapshot(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for number in [0, 1, 2, 7, 8] { try table.set(key(number), [1]) }
      try reader.read { _ throws in
        // In the rwlock variant nobody can write meanwhile.
        if setting.variant == .rcu {
          try onFreshThread { for number in [0, 1, 2, 7, 8] { try table.set(key(number), [1, 2]) } }
        }
        #expect(try get(reader, [0, 1, 2, 7, 8]).lengths == [1, 1, 1, 1, 1])
      }
    }
  }

  @Test(arguments: Setting.all) func sizesThatDoNotFitEachOtherAreRefused(_ setting: Setting) throws {
    try setting.with { _, reader throws in
      var lengths = [0, 0]
      var bytes = [UInt8](repeating: 0, count: 8)
      lengths.withUnsafeMutableBufferPointer { lengths in
        bytes.withUnsafeMutableBytes { bytes in
          for (keyLength, stride) in [(4, 5), (3, 4), (0, 4), (4, 0), (-4, 4), (4, .max), (.max, 4), (.min, .min)] {
            #expect(throws: TableError.self) {
              try reader.get(
                keys: UnsafeRawBufferPointer(bytes), keyLength: keyLength, into: bytes, stride: stride, lengths: lengths
              )
            }
          }
        }
      }
    }
  }

  @Test(arguments: Setting.all) func keysThatAreTooLongAreRefused(_ setting: Setting) throws {
    try setting.with { _, reader throws in
      var (length, byte) = (0, UInt8(0))
      let key = [UInt8](repeating: 1, count: 65_537)
      withUnsafeMutableBytes(of: &byte) { bytes in
        withUnsafeMutablePointer(to: &length) { length in
          let lengths = UnsafeMutableBufferPointer(start: length, count: 1)
          key.withUnsafeBytes { key in
            // The first read of a thread goes another way than the next.
            for _ in 0..<3 {
              #expect(
                code { try reader.get(keys: key, keyLength: key.count, into: bytes, stride: 1, lengths: lengths) }
                  == .tooLarge)
            }
          }
        }
      }
    }
  }
}
