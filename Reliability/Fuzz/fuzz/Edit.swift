/// One change to a word: eight bytes of the fuzzer's input. Its fields choose among the words that matter and among the
/// values that a damaged or hostile table would hold there; most random words change nothing that anyone reads.
struct Edit {
  static let byteCount = 8

  let kind: Int
  let index: Int
  let operation: UInt8
  let value: UInt64

  init(_ bytes: UnsafeRawBufferPointer) {
    kind = Int(bytes[0])
    index = Int(bytes[1]) | Int(bytes[2]) << 8
    operation = bytes[3]
    value = UInt64(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  static func all(in input: UnsafeRawBufferPointer.SubSequence) -> [Edit] {
    stride(from: input.startIndex, through: input.endIndex - byteCount, by: byteCount).map {
      Edit(UnsafeRawBufferPointer(rebasing: input[$0..<($0 + byteCount)]))
    }
  }

  func apply(_ words: Words, _ places: Places) {
    let group = places.groups[kind % places.groups.count]
    let offset = group[index % group.count]
    words[offset] = changed(words[offset], words, places)
  }

  private func changed(_ old: UInt64, _ words: Words, _ places: Places) -> UInt64 {
    let low: UInt64 = (1 << 48) - 1
    switch operation % 14 {
    case 0: return old ^ 1 << (value & 63)
    case 1: return old &+ UInt64(truncatingIfNeeded: Int8(truncatingIfNeeded: value))
    case 2: return value
    case 3: return value << 32 | value
    case 4: return .max
    case 5: return 0
    case 6: return old & ~low | UInt64(target(value, places))
    case 7: return old & ~low | UInt64(target(value, places)) &+ (value >> 16 & 0xff) &* 8 &- 1024 & low
    case 8: return old & ~low | low &- (value & 0xffff)
    case 9: return words[other(value, places)]
    case 10: return old & ~0xffff_ffff | value
    case 11: return old & low | value << 48
    case 12: return .max >> (value & 63)
    default: return old & ~(0xffff << 32) | (value & 0xffff) << 32
    }
  }

  private func target(_ value: UInt64, _ places: Places) -> Int {
    places.targets[Int(value & 0xffff) % places.targets.count]
  }

  private func other(_ value: UInt64, _ places: Places) -> Int {
    let group = places.groups[Int(value & 0xff) % places.groups.count]
    return group[Int(value >> 8) % group.count]
  }
}

/// Where to change an image, and what offsets are worth pointing to.
struct Places {
  /// By kind: an input's edits spread over kinds, and not over words.
  var groups: [[Int]] = []
  var targets: [Int] = []
}
