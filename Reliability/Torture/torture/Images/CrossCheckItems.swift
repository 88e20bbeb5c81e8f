import CTrace
import SharedTable
import TestSupport

/// What the other items rest on: that an image is what a death leaves, and that no change is missed.
let crossCheckItems = Table.Variant.allCases.flatMap { variant in
  [
    Item("images.death-\(variant)", "a real kill leaves, byte for byte, what the image of that instant holds") { run in
      try tryDeaths(variant, run)
    },
    Item("images.instructions-\(variant)", "a put in single steps: memory changes where a store traps, nowhere else") {
      run in try tryInstructions(variant, run)
    },
  ]
}

/// Leaves the trace in the middle.
private struct Here: Error {}

private func tryDeaths(_ variant: Table.Variant, _ run: Run) throws {
  var generator = run.generator
  let rounds = run.bounded(16, long: 200)
  for _ in 0..<rounds {
    try withTableName { name in
      let judges = try Judges(run, table: name, count: 1)
      let operation = [ImageOperation.put, .delete, .barrier][generator.below(3)]
      let traced = try TracedOperation(operation, variant, name)
      let image = ImagePair(name + ".image0")
      let target = generator.below(operation == .barrier ? 2000 : 45)
      var changes = 0
      let stores = StoreTrace(traced.tracee, traced.table) { _, marks in
        changes += 1
        guard changes > target else { return }
        try image.write(traced.table, dead: marks)
        throw Here()
      }
      do {
        try stores.run(to: Marker.end)
        throw Unavailable("\(operation) \(variant) has \(changes) changes only")
      } catch is Here {}
      let job = traced.job()
      try stores.openAreas()
      traced.tracee.kill()
      _ = traced.table.refresh()
      try run.expect(
        image.isEqual(to: traced.table),
        "\(operation) \(variant), change \(changes): the dead left another state: \(image.difference(to: traced.table))"
      )
      // And the real one is judged like its image.
      try judges.judge(inPlace: name, job, "\(operation) \(variant), killed at change \(changes)")
    }
  }
  run.remark("\(rounds) real kills (\(variant)) left what the image of that instant held.")
}

private func tryInstructions(_ variant: Table.Variant, _ run: Run) throws {
  try withTableName { name in
    ct_stay_on_one_processor(true)
    defer { ct_stay_on_one_processor(false) }
    let traced = try TracedOperation(ImageOperation.put, variant, name)
    var changes = 0
    let stores = StoreTrace(traced.tracee, traced.table, stepping: true) { _, _ in changes += 1 }
    try stores.run(to: Marker.end)
    try traced.tracee.finish()
    try run.expect(
      changes > 30 && stores.instructions > 1000, "\(stores.instructions) instructions, \(changes) changes")
    run.remark(
      "A put (\(variant)) in single steps: \(stores.instructions) instructions, \(stores.stores) stores, \(changes) changes, "
        + "each at a store that trapped.")
  }
}
