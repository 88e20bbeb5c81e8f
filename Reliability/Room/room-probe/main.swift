// Does the room of deleted values come back? Prints one line a figure with its bar.
//
// usage: room-probe [PERCENT [MEBIBYTES]]     exit status 1 if a bar is missed
// PERCENT: live data while sizes drift (80), MEBIBYTES: the table's capacity there (16)
import Glibc
import SharedTable

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let percent = arguments.first ?? 80
let mebibytes = arguments.count > 1 ? arguments[1] : 16
var isAllHeld = true

@MainActor func report(_ what: String, _ figure: Double, atLeast bar: Double) {
  let isHeld = figure >= bar
  isAllHeld = isAllHeld && isHeld
  defer { fflush(nil) }
  print("\(isHeld ? "ok    " : "MISSED") \(what): \((figure * 1000).rounded() / 10) % (at least \(bar * 100) %)")
}

for variant in Table.Variant.allCases {
  for (size, bar) in [(100, 0.95), (1 << 10, 0.85), (64 << 10, 0.8)] {
    let share = try shareFilledAfterScatteredDeletes(variant, size: size)
    report("\(variant), values of \(size) bytes fill of what is free", share, atLeast: bar)
  }
}
for variant in Table.Variant.allCases {
  for (deletesAll, what, bar) in [(true, "everything", 0.1), (false, "nine of ten", 0.2)] {
    let share = try shareKeptAfterDeletes(variant, deletesAll: deletesAll)
    report("\(variant), memory given back once \(what) is deleted, but for 1 MiB", 1 - share, atLeast: 1 - bar)
  }
}
for variant in Table.Variant.allCases {
  let share = try shareStoredInDrift(variant, percent: percent, mebibytes: mebibytes)
  let what = "sets that succeed while sizes drift at \(percent) % live data in \(mebibytes) MiB"
  report("\(variant), \(what)", share, atLeast: 1)
}
exit(isAllHeld ? 0 : 1)
