import Glibc
import SharedTable
import TestSupport

func readOnly(_ run: Run) throws {
  try withTableName { name in
    let table = try Table.create(name, .init(capacityBytes: 2 << 20))
    try table.set("k", "before")
    let inside = try startNeighbour(
      unshare: [], "mount --bind /dev/shm /dev/shm && mount -o remount,bind,ro /dev/shm")
    try run.expect(inside, "create \(name)-x rcu \(1 << 20)", refusedAs: "notPermitted", saying: "Read-only")
    try run.expect(inside, "open \(name) participant", refusedAs: "notPermitted", saying: "Read-only")
    try run.expect(inside, "open \(name) automatic", "observer")
    try run.expect(inside, "get k", "before")
    try table.set("k", "after")
    try run.expect(inside, "get k", "after")
    try run.expect(inside, "set k mine", refusedAs: "notPermitted")
    try run.expect(inside, "drop \(name)", refusedAs: "notPermitted", saying: "Read-only")
    try run.expect(try table.get("k") == "after" && table.administration.isNamed, "the table was changed")
    try inside.finish()
  }
  run.row(
    "/dev/shm read-only", "create, open, write, drop from inside, while it is written outside",
    "refused as not permitted; opened as it comes, it observes and sees each write")
}

func secondPIDNamespace(_ run: Run) throws {
  for variant in Table.Variant.allCases {
    try withTableName { name in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 2 << 20))
      try table.set("k", "before")
      let inside = try startNeighbour(unshare: ["--pid", "--fork", "--kill-child", "--mount-proc"])
      try run.expect(Int(try inside.ask("pid")) ?? 9999 < 100, "the process is in no PID namespace of its own")
      try run.expect(inside, "open \(name) participant", refusedAs: "notPermitted", saying: "another PID namespace")
      try run.expect(inside, "open \(name) automatic", "observer")
      for number in 0..<100 {
        try table.set("k", "\(number)")
        try run.expect(inside, "get k", "\(number)")
      }
      try run.expect(inside, "set k mine", refusedAs: "notPermitted")
      try inside.killAndWait()
      try table.set("k", "after")
      try run.expect(try table.check() == [], "the table is not whole")
    }
    // The other way round: made inside, opened outside.
    try withTableName { name in
      let inside = try startNeighbour(unshare: ["--pid", "--fork", "--kill-child", "--mount-proc"])
      try run.expect(inside, "create \(name) \(variant) \(2 << 20)", "ok")
      try run.expect(inside, "set k inside", "ok")
      let refused = described { "\(try Table.open(name, access: .participant).isObserver)" }
      try run.expect(refused.hasPrefix("error notPermitted"), "a table of another namespace: \(refused)")
      try run.expect(try Table.open(name).get("k") == "inside", "observed from outside: another value")
      try inside.killAndWait()
    }
  }
  run.row(
    "second PID namespace, both variants", "a participant and an observer, inside and outside",
    "participant refused with the reason; observer sees each write")
}
