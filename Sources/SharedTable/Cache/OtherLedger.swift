import CShims
import TableEngine

/// What a ledger says of the costs that a store, a dump or a copy has brought from another table.
struct OtherLedger {
  private let seed: UInt64
  /// Elements' costs, by that table's hashes of their keys.
  private var costs: [UInt64: UInt64] = [:]

  /// - Returns: nil if it is this table's, or cannot be read.
  init?(_ core: CacheCore, _ tx: borrowing Transaction) throws(TableError) {
    let own = core.table.segment.hashSeed
    guard let head = try tx.find(core.names.headKey).flatMap(CacheHead.init), head.seed != own else { return nil }
    // An earlier release did not say whose it is: if it is another's, no line names an element.
    seed = head.seed == 0 ? own : head.seed
    // To the first that is missing: what the head says may be a stranger's.
    for index in 0..<head.pageCount {
      let found = try core.names.withPage(index) { key throws(TableError) in try tx.find(key) }
      guard let found, let page = unsafe CachePage(found.value) else { return }
      for line in 0..<page.count { costs[page[line].hash] = page[line].cost }
    }
  }

  func cost(ofKey key: UnsafeRawBufferPointer) -> UInt64? {
    unsafe costs[shm_hash(key.baseAddress!, key.count, seed)]
  }
}
