import SharedTable
import TestSupport

func forkWithoutExec(_ run: Run) throws {
  let forks = run.bounded(60, long: 3000)
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      let (parent, other) = (try startNeighbour(), try startNeighbour())
      try run.expect(parent, "create \(name) \(variant) \(4 << 20)", "ok")
      try run.expect(parent, "set k before", "ok")
      try run.expect(other, "open \(name) participant", "participant")
      for command in ["get k", "set k child", "barrier", "read", "maintain"] {
        try run.expect(parent, "fork \(command)", refusedAs: "forked")
      }
      try run.expect(parent, "fork-and-reopen \(name)", "ok")

      // A child that ends inside its parent's barrier takes nothing of it along.
      try run.expect(parent, "barrier", "inside")
      try run.expect(parent, "fork get k", refusedAs: "forked")
      try run.expect(other, "set k other 50", refusedAs: "timedOut", saying: "pid \(parent.pid)")
      try run.expect(parent, "end", "ended")
      try run.expect(other, "set k other", "ok")
      try run.expect(parent, "get k", "other")

      // Nor one that ends inside its parent's read section or snapshot.
      try run.expect(parent, "read", "inside")
      try run.expect(parent, "fork get k", refusedAs: "forked")
      try run.expect(parent, "get k", "other")
      try run.expect(parent, "end", "ended")
      try run.expect(parent, "fork-beside-threads \(name) \(forks)", "ok")
      try run.expect(other, "check", "ok")
      for process in [parent, other] { try process.finish() }
    }
  }
  run.row(
    "fork without exec, both variants", "\(forks) children of a process whose threads read, write, open and close",
    "each refused until it opened the table again, then right; a child's end takes nothing from its parent")
}

func execInPlace(_ run: Run) throws {
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      let (process, other) = (try startNeighbour(), try startNeighbour())
      try run.expect(other, "create \(name) \(variant) \(4 << 20)", "ok")
      for state in ["idle", "read", "barrier"] {
        try run.expect(process, "open \(name) participant", "participant")
        try run.expect(process, "set k \(state)", "ok")
        if state == "barrier" {
          try run.expect(process, "barrier", "inside")
        } else if state == "read" {
          try run.expect(process, "read", "inside")
        }
        let pid = try process.ask("pid")
        try run.expect(process, "exec", "anew")
        try run.expect(process, "pid", pid)
        try run.expect(process, "descriptors", "0")
        // What the image before held is free: the kernel says so as for the dead.
        try run.expect(other, "set k after-\(state)", "ok")
        try run.expect(process, "open \(name) participant", "participant")
        try run.expect(process, "fencing", "light")
        try run.expect(process, "get k", "after-\(state)")
        try other.send("bank 2000")
        try run.expect(process, "audit 2000", "ok")
        try other.expectLine("ok")
      }
      try run.expect(other, "check", "ok")
      for process in [process, other] { try process.finish() }
    }
  }
  run.row(
    "exec, both variants", "idle, inside a section, inside a barrier; opened again by the new image",
    "no descriptor passed on; what the old image held is free; fences registered anew")
}
