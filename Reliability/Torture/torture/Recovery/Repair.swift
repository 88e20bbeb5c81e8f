import Glibc
import SharedTable
import TableEngine
import TestSupport

/// Random damage that no crash explains, and the repair of it: afterwards the table is sound, and every key that the
/// damage did not touch is there with its value.
enum Repair {
  static let items = Table.Variant.allCases.map { variant in
    Item("recovery.repair-\(variant)", "repair cures random damage and loses nothing that it did not touch") { run in
      try cure(variant, run)
    }
  }

  private static func cure(_ variant: Table.Variant, _ run: Run) throws {
    var generator = run.generator
    var lost = 0
    var strokes = 0
    var kills = 0
    let rounds = run.bounded(60, long: 5000)
    for round in 0..<rounds {
      // Some sub-tables, and now and then so many that the root's words are one sub-table's each.
      let keys = round % 20 == 19 ? 60_000 : 300 + generator.below(5000)
      try withTableName { name in
        let table = try Table.create(name, .init(variant: variant, capacityBytes: 32 << 20))
        try fill(table, keys, &generator)
        var damage = Damage(table, SplitMix(seed: generator.next()))
        damage.everyKey = { (0..<keys).map(key) }
        let count = 1 + generator.below(6)
        for _ in 0..<count { if generator.below(2) == 0 { damage.strikeControl() } else { damage.strikeData() } }
        strokes += count
        if round % 4 == 0 { kills += try killRepairers(table, &generator) }
        lost += try repair(table, keys, damage, run, round)
      }
    }
    run.row("repair", "\(variant)", "\(rounds) tables", "\(strokes) strokes", "-", "-", "-")
    run.remark(
      "Repair, \(variant): \(rounds) tables struck \(strokes) times; \(kills) repairers killed on the way; "
        + "\(lost) keys lost, each of them struck.")
  }

  /// Three processes that begin the repair and are killed in it, or after it. What they leave is repaired once more.
  private static func killRepairers(_ table: Table, _ generator: inout SplitMix) throws -> Int {
    for _ in 0..<3 {
      let repairer = try startWorker("recovery-repairer", [table.name])
      // Damage may keep it from attaching: then the first repair is the last.
      guard try repairer.readLine() == "ready" else { return 0 }
      try repairer.send("go")
      // Not to wait for anything: this is when it dies.
      usleep(UInt32(generator.below(6000)))
      try repairer.killAndWait()
    }
    return 3
  }

  /// Repairs, and waits to be killed.
  static func repairer(_ arguments: [String]) throws {
    guard let table = try? Table.open(arguments[0], access: .participant) else { return say("refused") }
    say("ready")
    _ = readLine()
    _ = try? table.repair(timeout: .seconds(20), force: true)
    _ = readLine()
  }

  private static func fill(_ table: Table, _ keys: Int, _ generator: inout SplitMix) throws {
    try table.barrier { tx in for index in 0..<keys { try tx.set(key(index), value(index)) } }
    // Superseded versions, tombstones and limbo as in a table that lives.
    for _ in 0..<60 {
      try table.barrier { tx in
        for _ in 0..<30 {
          let index = generator.below(keys)
          try tx.set(key(index), value(index))
        }
        try tx.set("doomed", "x")
        try tx.remove("doomed")
      }
    }
  }

  private static func repair(_ table: Table, _ keys: Int, _ damage: Damage, _ run: Run, _ round: Int) throws -> Int {
    let story = "round \(round), \(keys) keys: \(damage.log.suffix(12))"
    do {
      let report = try table.repair(timeout: .seconds(20), force: true)
      try run.expect(report.isRepaired || report.problems.isEmpty, "\(story): not repaired: \(report)")
      let problems = try table.check()
      try run.expect(problems.isEmpty, "\(story): after the repair: \(problems.prefix(3))")
    } catch let error as TableError {
      try run.expect(false, "\(story): \(error)")
      return 0
    }
    var lost = 0
    for index in 0..<keys {
      // Its type may be what was damaged.
      let found = try? table.get(key(index), as: [UInt8].self)
      if found == value(index) { continue }
      lost += 1
      try run.expect(damage.touched.contains(key(index)), "\(story): \(key(index)) is lost, and was not touched")
    }
    // And it lives: writes, splits, reclamation.
    try table.barrier { tx in for index in 0..<2000 { try tx.set("after\(index)", value(index)) } }
    try table.barrier { tx in for index in 0..<2000 { try tx.remove("after\(index)") } }
    while try table.administration.maintain() == true {}
    let problems = try table.check()
    try run.expect(problems.isEmpty, "\(story): after life went on: \(problems.prefix(3))")
    return lost
  }

  static func key(_ index: Int) -> String { "key:\(index)" }

  /// Mostly small, some of several frames.
  static func value(_ index: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 400 == 7 ? 9000 + index % 5000 : index % 300)
  }
}
