import CTrace
import SharedTable
import TestSupport

/// Making and dropping a table: images of what is there when the one who does it dies.
let lifeItems = Table.Variant.allCases.flatMap { variant in
  [
    Item("images.create-\(variant)", "an image at each store and call of making a table") { run in
      // Most stores set up one slot after the other.
      try tryLife("create", variant, run, share: run.isLong ? 1 : 0.05) { ["made", "IMAGE", "\(variant)"] }
    },
    Item("images.drop-\(variant)", "an image at each store and call of dropping a table") { run in
      try tryLife("drop", variant, run, share: 1) { ["dropped", "IMAGE", "\(Contents(Maker.contents))"] }
    },
  ]
}

private func tryLife(
  _ what: String, _ variant: Table.Variant, _ run: Run, share: Double, _ job: @escaping () -> [String]
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
      if case .store = cause, !generator.happens(share) { return }
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
}

/// The worker: `image-maker create|drop VARIANT TABLE`, between markers.
let serveImageMaker: @Sendable ([String]) throws -> Void = { arguments in
  let variant: Table.Variant = arguments[1] == "rcu" ? .rcu : .rwlock
  let isDrop = arguments[0] == "drop"
  if isDrop {
    let table = try Table.create(arguments[2], Scene.options(variant))
    for (key, value) in Maker.contents { try table.set(key, value) }
  }
  ct_mark(Marker.begin, 0)
  if isDrop { try Table.drop(arguments[2]) } else { _ = try Table.create(arguments[2], Scene.options(variant)) }
  ct_mark(Marker.end, 0)
}

extension SplitMix {
  /// With this probability.
  mutating func happens(_ share: Double) -> Bool { share == 1 || Double(next() >> 11) / Double(1 << 53) < share }
}
