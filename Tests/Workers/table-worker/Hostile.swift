import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TestSupport

/// Observes copies of a table's data object whose words were changed (G8): an error, never a crash, a hang or a read
/// out of bounds.
struct HostileContents {
  private let original: [UInt8]
  private let name: String
  private let mapping: Mapping

  /// - Parameter name: of a table whose data object is to be observed; only that one is used, and changed.
  init(_ name: String) throws {
    self.name = name
    let object = try SharedObject.open(name: "shmtable.\(name).data", writable: true)
    mapping = try object.map(count: try object.status().size, writable: true)
    original = [UInt8](UnsafeRawBufferPointer(start: mapping.base, count: mapping.count))
  }

  /// Damages some words, observes, repairs them, and so on.
  /// - Returns: how many rounds ended well and how many with an error.
  func run(seed: UInt64, rounds: Int) throws -> String {
    var generator = SplitMix(seed: seed)
    var errors = 0
    for _ in 0..<rounds {
      let offsets = (0...generator.below(4)).map { _ in offset(&generator) }
      for offset in offsets { store(word(&generator, at: offset), offset) }
      if !observe() { errors += 1 }
      for offset in offsets { store(load(offset), offset) }
    }
    return "survived \(rounds) with \(errors) errors"
  }

  /// Words that are not zero are worth changing: most of an object is empty.
  private func offset(_ generator: inout SplitMix) -> Int {
    while true {
      let offset: Int
      switch generator.below(8) {
      case 0: offset = generator.below(1024) & ~7
      case 1: offset = 4096 + generator.below(8192) & ~7
      default: offset = generator.below(original.count - 8) & ~7
      }
      if generator.below(16) == 0 || load(offset) != 0 { return offset }
    }
  }

  private func load(_ offset: Int) -> UInt64 {
    original.withUnsafeBytes { $0.load(fromByteOffset: offset, as: UInt64.self) }
  }

  private func store(_ word: UInt64, _ offset: Int) {
    mapping.base.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
  }

  private func word(_ generator: inout SplitMix, at offset: Int) -> UInt64 {
    let old = load(offset)
    switch generator.below(6) {
    case 0: return generator.next()
    case 1: return old ^ 1 << (generator.next() % 64)
    case 2: return old &+ UInt64(generator.below(64)) &- 32
    case 3: return .max
    case 4: return old & ~0xffff_ffff | UInt64(generator.below(original.count))
    default: return load(self.offset(&generator))
    }
  }

  /// Everything an observer can do. False if any of it was an error.
  private func observe() -> Bool {
    do {
      let table = try Table.open(name, access: .observer, timeout: .milliseconds(1))
      _ = table.count
      _ = table.version
      _ = table.segment.statistics
      for index in 0..<64 { _ = try table.bytes("key\(index)") }
      try table.read { view in
        _ = try view.count()
        _ = try view.keys(prefix: "key1")
        _ = try view.get("number", as: Int.self)
      }
      return true
    } catch {
      return false
    }
  }

  /// Lets all words of all sub-tables point to one long value, and counts the keys with little address space.
  func bomb(addressSpaceBytes: Int) throws -> String {
    let subTable = Int(load(DataLayout.root) & 0xffff_ffff_ffff)
    let words = (0..<2048).map { load(subTable + $0 * 8) }.filter { $0 & 0xffff_ffff_ffff != 0 }
    // The only key of this table.
    for index in 0..<2048 { store(words[0], subTable + index * 8) }
    var limit = rlimit(rlim_cur: rlim_t(addressSpaceBytes), rlim_max: rlim_t(addressSpaceBytes))
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    return observe() ? "counted" : "refused"
  }
}
