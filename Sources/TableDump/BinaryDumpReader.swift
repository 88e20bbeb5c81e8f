import SharedTable
import TableEngine

/// Reads a dump's binary form, block by block; a block is handed out after its checksum was found right.
struct BinaryDumpReader: DumpReading {
  let header: DumpHeader
  private var input: DumpInput
  private let longestValue: Int
  private let longestBlock: Int
  private var blockIndex: UInt64 = 0
  private var chain: UInt64 = 0
  private var records: UInt64 = 0
  private var isAtEnd = false

  init(_ input: DumpInput, longestValue: Int) throws {
    var input = input
    var prologue: [UInt8] = []
    _ = try input.read(BinaryForm.prologueBytes, into: &prologue)
    guard prologue.starts(with: BinaryForm.magic) else {
      throw DumpProblem(.notADump, at: .byte(0), "no dump of a table; 'shmctl dump' makes one")
    }
    guard prologue.count == BinaryForm.prologueBytes else {
      throw DumpProblem(.truncated, at: .byte(UInt64(prologue.count)), "the dump ends here, before its header")
    }
    let version: UInt32 = prologue.number(at: 8)
    guard version == BinaryForm.version else {
      throw DumpProblem(
        .otherFormat, at: .byte(8), "a dump of format \(version); this release reads 1, the one that made it reads it")
    }
    self.longestValue = longestValue
    longestBlock =
      BinaryForm.blockBytes + BinaryForm.recordHeaderBytes + 16 + Table.keyLengths.upperBound + max(0, longestValue)
    var block: [UInt8] = []
    let place = input.offset
    let kind = try Self.read(&input, &block, index: 0, limit: longestBlock, &chain)
    guard kind == .header else { throw DumpProblem(.damaged, at: .byte(place), "the header is missing") }
    header = try Self.header(block, place)
    self.input = input
    blockIndex = 1
  }

  mutating func next(_ batch: inout DumpBatch) throws -> Bool {
    batch.removeAll()
    guard !isAtEnd else { return false }
    let (place, chainBefore) = (input.offset, chain)
    let kind = try Self.read(&input, &batch.storage, index: blockIndex, limit: longestBlock, &chain)
    blockIndex += 1
    switch kind {
    case .header: throw DumpProblem(.damaged, at: .byte(place), "a second header")
    case .end:
      try end(batch.storage, place, chainBefore)
      batch.removeAll()
      isAtEnd = true
      return false
    case .records:
      try parse(&batch, place)
      return true
    }
  }

  private mutating func end(_ block: [UInt8], _ place: UInt64, _ chainBefore: UInt64) throws {
    guard block.count == BinaryForm.blockHeaderBytes + BinaryForm.endBytes,
      block.number(at: BinaryForm.blockHeaderBytes) == records,
      block.number(at: BinaryForm.blockHeaderBytes + 8) == chainBefore
    else { throw DumpProblem(.damaged, at: .byte(place), "the end does not fit what came before it") }
    if try input.peek() != nil {
      throw DumpProblem(.damaged, at: .byte(input.offset), "the dump has ended, and more follows")
    }
  }
}

extension BinaryDumpReader {
  /// Reads a block with its own header and checks it.
  private static func read(
    _ input: inout DumpInput, _ block: inout [UInt8], index: UInt64, limit: Int, _ chain: inout UInt64
  ) throws -> BinaryForm.BlockKind {
    let place = input.offset
    guard try input.read(BinaryForm.blockHeaderBytes, into: &block) == BinaryForm.blockHeaderBytes else {
      throw DumpProblem(.truncated, at: .byte(input.offset), "the dump ends here, before its end block")
    }
    let length: UInt64 = block.number(at: 16)
    guard length <= UInt64(limit) else {
      throw DumpProblem(
        .tooLarge, at: .byte(place),
        "a block of \(length) bytes, where at most \(limit) are possible: the dump is damaged, or has a value longer than "
          + "the table takes")
    }
    guard try input.read(Int(length), into: &block) == Int(length) else {
      throw DumpProblem(.truncated, at: .byte(input.offset), "the dump ends here, inside a block")
    }
    let checksum: UInt64 = block.number(at: 0)
    guard BinaryForm.checksum(block[8...], seed: index) == checksum,
      let kind = BinaryForm.BlockKind(rawValue: block.number(at: 8))
    else {
      throw DumpProblem(
        .damaged, at: .byte(place), "the block that begins here is damaged: its checksum does not fit")
    }
    chain = BinaryForm.chained(chain, checksum)
    return kind
  }

  private static func header(_ block: [UInt8], _ place: UInt64) throws -> DumpHeader {
    let start = BinaryForm.blockHeaderBytes
    guard block.count >= start + BinaryForm.headerBytes else { throw impossible(place) }
    let (name, prefix) = (
      Int(block.number(at: start + 34, as: UInt16.self)), Int(block.number(at: start + 36, as: UInt32.self))
    )
    let text = start + BinaryForm.headerBytes
    guard block.count == text + name + prefix,
      let table = String(validating: block[text..<text + name], as: UTF8.self),
      let capacity = Int(exactly: block.number(at: start + 16, as: UInt64.self))
    else { throw impossible(place) }
    let variant: Table.Variant
    switch block.number(at: start + 32, as: UInt16.self) {
    case 1: variant = .rcu
    case 2: variant = .rwlock
    default: throw impossible(place)
    }
    return DumpHeader(
      table: table, variant: variant, capacityBytes: capacity, version: block.number(at: start),
      taken: block.number(at: start + 8), keyCount: block.number(at: start + 24),
      prefix: Array(block[(text + name)...]))
  }

  /// What a checksum can be right for and yet cannot be: made so, by whatever program.
  private static func impossible(_ place: UInt64) -> DumpProblem {
    DumpProblem(.damaged, at: .byte(place), "a block whose contents cannot be, though its checksum fits")
  }

  private mutating func parse(_ batch: inout DumpBatch, _ place: UInt64) throws {
    let count = Int(batch.storage.number(at: 12, as: UInt32.self))
    // No more than fit, whatever the number says.
    batch.items.reserveCapacity(min(count, batch.storage.count / BinaryForm.recordHeaderBytes))
    var position = BinaryForm.blockHeaderBytes
    while position < batch.storage.count {
      guard let item = Self.item(batch.storage, &position) else { throw Self.impossible(place) }
      if item.value.count > longestValue {
        throw DumpProblem(valueOf: item.value.count, longest: longestValue, at: .byte(place))
      }
      batch.items.append(item)
    }
    guard batch.items.count == count else { throw Self.impossible(place) }
    records += UInt64(count)
  }

  /// The record at a position, which moves behind it; nil if it cannot be.
  private static func item(_ block: [UInt8], _ position: inout Int) -> DumpBatch.Item? {
    guard block.count - position >= BinaryForm.recordHeaderBytes else { return nil }
    let (type, flags) = (block[position], block[position + 1])
    let keyCount = Int(block.number(at: position + 4, as: UInt32.self))
    guard type > 0, flags & 0b1000_1100 == 0, flags >> BinaryForm.alignmentShift <= 4,
      block.number(at: position + 2, as: UInt16.self) == 0, Table.keyLengths.contains(keyCount),
      let valueCount = Int(exactly: block.number(at: position + 8, as: UInt64.self))
    else { return nil }
    var attributes = ValueAttributes(type: type, alignmentShift: Int(flags >> BinaryForm.alignmentShift))
    let version: UInt64 = block.number(at: position + 16)
    position += BinaryForm.recordHeaderBytes
    if flags & BinaryForm.expiryFlag != 0 {
      guard let expiry = nonzero(block, &position) else { return nil }
      attributes.expiry = expiry
    }
    if flags & BinaryForm.fingerprintFlag != 0 {
      guard let fingerprint = nonzero(block, &position) else { return nil }
      attributes.fingerprint = fingerprint
    }
    guard block.count - position >= keyCount, block.count - position - keyCount >= valueCount else { return nil }
    let key = position..<position + keyCount
    position = key.upperBound + valueCount
    return DumpBatch.Item(
      key: key, value: key.upperBound..<position, attributes: attributes, version: version)
  }

  private static func nonzero(_ block: [UInt8], _ position: inout Int) -> UInt64? {
    guard block.count - position >= 8 else { return nil }
    let number: UInt64 = block.number(at: position)
    position += 8
    return number == 0 ? nil : number
  }
}
