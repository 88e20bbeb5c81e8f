import CTrace
import SharedTable
import TableEngine
import TestSupport

/// Making, repairing and dropping a table: images of what is there when the one who does it dies.
let lifeItems = Table.Variant.allCases.flatMap { variant in
  [
    Item("images.create-\(variant)", "an image at each store and call of making a table") { run in
      // Most stores set up one slot after the other.
      try tryLife("create", variant, run, share: run.isLong ? 1 : 0.05) { ["made", "IMAGE", "\(variant)"] }
    },
    Item("images.repair-\(variant)", "an image at each store of repairing a table") { run in
      // Most stores make the words of single units anew.
      try tryLife("repair", variant, run, share: run.isLong ? 1 : 0.05, isSampled: isNoCounter) {
        ["repaired", "IMAGE", "\(Contents(Maker.contents))"]
      }
    },
    Item("images.repair-units-\(variant)", "an image at each store of repairing miscounted units") { run in
      try tryLife("repair-units", variant, run, share: run.isLong ? 1 : 0.02, isSampled: isNoCounter) {
        ["regrown", "IMAGE", "\(Contents(Maker.contents))"]
      }
    },
    Item("images.repair-part-\(variant)", "an image at each store of a repair that loses a part of the index") { run in
      try tryLife("repair-part", variant, run, share: run.isLong ? 1 : 0.02, isSampled: isNoCounter) {
        ["repaired-but-for-a-part", "IMAGE", "\(Contents(Maker.contents))"]
      }
    },
    Item("images.drop-\(variant)", "an image at each store and call of dropping a table") { run in
      try tryLife("drop", variant, run, share: 1) { ["dropped", "IMAGE", "\(Contents(Maker.contents))"] }
    },
  ]
}

/// What the control object begins with are sizes, positions and counters: of those each store is looked at.
private func isNoCounter(_ object: String, _ offset: Int) -> Bool { object == "data" || offset >= ControlLayout.slots }

/// - Parameters:
///   - share: of the images at stores that are sampled, how many are judged.
///   - isSampled: whether stores to a place are; of others each is judged.
private func tryLife(
  _ what: String, _ variant: Table.Variant, _ run: Run, share: Double,
  isSampled: @escaping (_ object: String, _ offset: Int) -> Bool = { _, _ in true }, _ job: @escaping () -> [String]
) throws {
  try withTableName { name in
    let judges = try Judges(run, table: name)
    ct_stay_on_one_processor(true)
    defer { ct_stay_on_one_processor(false) }
    let tracee = try Tracee(
      "image-maker", [what, "\(variant)", name], environment: TracedOperation.environment, timeoutSeconds: 24 * 3600)
    try tracee.runToMarker(Marker.begin)
    let watched = WatchedTable(name)
    var generator = run.generator
    var changes = 0
    let stores = StoreTrace(tracee, watched) { cause, marks in
      changes += 1
      if case .store(let object, let offset) = cause, isSampled(object, offset), !generator.happens(share) { return }
      try judges.judge(watched, dead: marks, job(), "\(what) \(variant), change \(changes) (\(cause))")
    }
    try stores.run(to: Marker.end)
    try judges.settle()
    try tracee.finish()
    run.row(what, "\(variant)", "\(stores.stores)", "\(judges.images) of \(changes)", "0", "0")
  }
}

private enum Maker {
  static let contents = [Array("key".utf8): Array("value".utf8)]

  static func table(_ name: String, _ options: Table.Options) throws -> Table {
    try filled(Table.create(name, options))
  }

  private static func filled(_ table: Table) throws -> Table {
    for (key, value) in contents { try table.set(key, value) }
    return table
  }

  /// What was stored last lies behind the value that fills the first units.
  static func tableOfSeveralUnits(_ name: String, _ options: Table.Options) throws -> Table {
    var larger = options
    larger.capacityBytes *= 4
    let table = try Table.create(name, larger)
    try table.set(regrownFiller, [UInt8](repeating: 1, count: 2 * Geometry.unitBytes))
    return try filled(table)
  }
}

/// The worker: `image-maker create|repair|repair-part|repair-units|drop VARIANT TABLE`, between markers.
let serveImageMaker: @Sendable ([String]) throws -> Void = { arguments in
  let variant: Table.Variant = arguments[1] == "rcu" ? .rcu : .rwlock
  let name = arguments[2]
  let act: () throws -> Void
  switch arguments[0] {
  case "create": act = { _ = try Table.create(name, Scene.options(variant)) }
  case "drop":
    // The one who drops the table has no handle on it.
    _ = try Maker.table(name, Scene.options(variant))
    act = { try Table.drop(name) }
  case "repair":
    let table = try Maker.table(name, Scene.options(variant))
    try damage(table)
    act = { _ = try table.repair() }
  case "repair-part":
    let table = try Maker.table(name, Scene.options(variant))
    try losePart(of: table)
    act = { _ = try table.repair() }
  default:
    let table = try Maker.tableOfSeveralUnits(name, Scene.options(variant))
    try loseUnits(of: table)
    act = { _ = try table.repair() }
  }
  ct_mark(Marker.begin, 0)
  try act()
  ct_mark(Marker.end, 0)
}

/// Of which no key is lost. Rings and journal have grown, and have records.
private func damage(_ table: Table) throws {
  try table.barrier { tx in
    for index in 0..<2_000 { try tx.set("gone \(index)", index) }
    for index in 0..<2_000 { try tx.remove("gone \(index)") }
  }
  let ctl = table.segment.controlMemory!
  ctl.storeRelaxed(ControlLayout.garbageBytes, ctl.loadRelaxed(ControlLayout.garbageBytes) + 8)
}

/// A word of the directory, which alone covers a part of the index without keys, has a bit that no word has: readers do not look at it, and a
/// repair does not believe the word. Another number has a repair begin.
private func losePart(of table: Table) throws {
  let forge = KeyForge(seed: table.segment.hashSeed)
  // All below the first word of the root, which becomes a node's.
  let keys = (0..<UInt64(2_000)).map { forge.key(hash: $0 << 40) }
  for key in keys { try table.set(key, 1) }
  for key in keys { try table.remove(key) }
  let data = table.segment.data
  func bits(_ word: UInt64) -> Int { Int(word >> 56) & 63 }
  let node = data.loadRelaxed(DataLayout.root)
  let words = (0..<1 << bits(node)).map { Int(node & 0xffff_ffff_ffff) + $0 * 8 }
  guard node >> 63 != 0,
    let alone = words.first(where: { bits(data.loadRelaxed($0)) == DataLayout.rootBits + bits(node) })
  else { throw Wrong("no word covers a part alone") }
  data.storeRelaxed(alone, data.loadRelaxed(alone) ^ 1 << 48)
  let ctl = table.segment.controlMemory!
  ctl.storeRelaxed(ControlLayout.garbageBytes, ctl.loadRelaxed(ControlLayout.garbageBytes) + 8)
}

/// The key of a value that lies in the units that the damaged table has lost count of.
let regrownFiller = "filler"

/// The table holds several units, and its numbers say one.
private func loseUnits(of table: Table) throws {
  let segment = table.segment
  let ctl = segment.controlMemory!
  guard ctl.loadRelaxed(ControlLayout.units) > 2 else { throw Wrong("the table has too few units for this damage") }
  ctl.storeRelaxed(ControlLayout.units, 1)
  segment.data.storeRelaxed(DataLayout.publishedBytes, UInt64(segment.geometry.unitsOffset + Geometry.unitBytes))
}

extension SplitMix {
  /// With this probability.
  mutating func happens(_ share: Double) -> Bool { share == 1 || Double(next() >> 11) / Double(1 << 53) < share }
}
