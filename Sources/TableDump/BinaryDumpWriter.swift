import SharedTable
import TableEngine

/// Writes a dump's binary form. Holds one block.
public struct BinaryDumpWriter: DumpWriter {
  private let sink: DumpSink
  private var block: [UInt8] = []
  private var blockRecords: UInt32 = 0
  private var blockIndex: UInt64 = 0
  private var records: UInt64 = 0
  private var chain: UInt64 = 0

  /// Writes the header.
  public init(_ header: DumpHeader, to sink: @escaping DumpSink) throws {
    self.sink = sink
    var prologue = BinaryForm.magic
    prologue.append(number: BinaryForm.version)
    try sink(prologue)
    begin()
    block.append(number: header.version)
    block.append(number: header.taken)
    block.append(number: UInt64(header.capacityBytes))
    block.append(number: header.keyCount)
    block.append(number: UInt16(header.variant == .rcu ? 1 : 2))
    let name = Array(header.table.utf8)
    block.append(number: UInt16(name.count))
    block.append(number: UInt32(header.prefix.count))
    block += name
    block += header.prefix
    try close(.header)
  }

  public mutating func append(_ record: DumpRecord) throws {
    let attributes = record.attributes
    let flags =
      (attributes.expiry != 0 ? BinaryForm.expiryFlag : 0)
      | (attributes.fingerprint != 0 ? BinaryForm.fingerprintFlag : 0)
      | UInt8(attributes.alignmentShift) << BinaryForm.alignmentShift
    // A word at a time: a million records are six million of these.
    let head = UInt64(attributes.type) | UInt64(flags) << 8 | UInt64(UInt32(unsafe record.key.count)) << 32
    block.append(number: head)
    block.append(number: UInt64(unsafe record.value.count))
    block.append(number: record.version)
    if attributes.expiry != 0 { block.append(number: attributes.expiry) }
    if attributes.fingerprint != 0 { block.append(number: attributes.fingerprint) }
    unsafe block.append(contentsOf: record.key)
    unsafe block.append(contentsOf: record.value)
    blockRecords += 1
    records += 1
    if block.count >= BinaryForm.blockBytes { try close(.records) }
  }

  public mutating func finish() throws {
    if blockRecords > 0 { try close(.records) }
    block.append(number: records)
    block.append(number: chain)
    try close(.end)
  }

  private mutating func begin() {
    // Filled in when the block is closed.
    block.removeAll(keepingCapacity: block.capacity <= 4 << 20)
    block.append(contentsOf: repeatElement(0, count: BinaryForm.blockHeaderBytes))
    blockRecords = 0
  }

  private mutating func close(_ kind: BinaryForm.BlockKind) throws {
    block.store(kind.rawValue, at: 8)
    block.store(blockRecords, at: 12)
    block.store(UInt64(block.count - BinaryForm.blockHeaderBytes), at: 16)
    let checksum = BinaryForm.checksum(block[8...], seed: blockIndex)
    block.store(checksum, at: 0)
    try sink(block)
    chain = BinaryForm.chained(chain, checksum)
    blockIndex += 1
    begin()
  }
}
