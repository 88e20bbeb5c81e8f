import CTrace
import Glibc
import SharedTable
import TestSupport

/// The reader is single-stepped through one get and left standing at each instruction, while writers go on.
///
/// Standing there it is announced or not: then writers are refused at the budget, or never. Whatever it returns in the
/// end is a whole value that was committed while it was inside.
func stoppedAtEachInstruction(_ run: Run) throws {
  _ = ct_stay_on_one_processor(true)
  defer { _ = ct_stay_on_one_processor(false) }
  for (how, stride) in [
    ("into a buffer", 1), ("decoded", run.bounded(11, long: 1)), ("in a section", run.bounded(37, long: 1)),
  ] {
    try withTableName { name in
      let stalled = try StalledTable(name, keys: 300, budget: 64 << 10, .evict)
      let reader = try Tracee("step-through", [name, how], timeoutSeconds: 3600)
      var (points, announced, position) = (0, 0, 0)
      while try standing(reader, at: position) {
        points += 1
        let stands = stalled.figures(of: reader.pid) != nil
        if stands { announced += 1 }
        let refusal = try stalled.write(600)
        try run.expect(
          stands ? refusal?.code == .full && refusal?.holder?.pid == reader.pid : refusal == nil,
          "\(how), instruction \(position), \(stands ? "announced" : "not announced"): "
            + "\(refusal.map { "\($0)" } ?? "no error")")
        _ = try reader.runToMarker(2)
        position += stride
      }
      try reader.send("end")
      try reader.finish()
      try run.expect(reader.text.isEmpty, "\(how): \(reader.text)")
      try run.expect(announced > 10 && points > announced, "\(how): announced at \(announced) of \(points) points")
      try stalled.expectBounded(run, how)
      stalled.row(
        run, "single get \(how), stopped at \(points) of its instructions", "evict",
        "refused naming it where it was announced (\(announced)), never elsewhere; each value whole and of its time")
    }
  }
}

/// Steps the reader so many instructions into its next get; false if the get ends before that.
private func standing(_ reader: Tracee, at position: Int) throws -> Bool {
  try reader.send("next")
  _ = try reader.runToMarker(1)
  for _ in 0..<position {
    if case .syscallEntry(let number, let arguments) = try reader.step(),
      Tracee.markerCode(number, arguments) == 2
    {
      return false
    }
  }
  return true
}

/// Worker: one get between markers for each line it reads.
func stepThrough(_ arguments: [String]) throws {
  if arguments.count > 2 { try Seccomp.denyMembarrier() }
  let table = try Table.open(arguments[0], access: .participant)
  let key = StalledContents.key(1)
  var buffer = [UInt8](repeating: 0, count: StalledContents.valueBytes)
  func read() throws -> [UInt8] {
    switch arguments[1] {
    case "into a buffer":
      return try buffer.withUnsafeMutableBytes { target in
        try key.withUnsafeBytes { bytes in
          ct_mark(1, 0)
          let length = try table.get(bytes, into: target)
          ct_mark(2, 0)
          return length == StalledContents.valueBytes ? [UInt8](target) : []
        }
      }
    case "decoded":
      ct_mark(1, 0)
      let value = try table.get(key, as: [UInt8].self)
      ct_mark(2, 0)
      return value ?? []
    default:
      ct_mark(1, 0)
      let value = try table.read { view in try view.entry(forKey: key)?.bytes }
      ct_mark(2, 0)
      return value ?? []
    }
  }
  var last = 0
  while readLine() == "next" {
    let before = StalledContents.round(try table.bytes(forKey: key) ?? [], of: 1) ?? .max
    let got = StalledContents.round(try read(), of: 1)
    let after = StalledContents.round(try table.bytes(forKey: key) ?? [], of: 1) ?? -1
    guard let got, got >= before, got <= after, got >= last else {
      say("a value of round \(got ?? -1), between \(before) and \(after)")
      continue
    }
    last = got
  }
}
