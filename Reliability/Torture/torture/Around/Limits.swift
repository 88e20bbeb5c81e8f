import SharedMemory
import SharedTable
import TestSupport

func memoryLimit(_ run: Run) throws {
  try withTableName { name in
    let big = try Table.create(name, .init(capacityBytes: 1 << 30))
    try big.set("k", "v")
    let process = try startNeighbour()
    try run.expect(process, "limit-memory-beyond-use \(128 << 20)", "ok")
    for way in ["participant", "observer", "automatic"] {
      try run.expect(process, "open \(name) \(way)", refusedAs: "full", saying: "RLIMIT_AS")
    }
    try withTableName { other in
      for variant in ["rcu", "rwlock"] {
        try run.expect(process, "create \(other) \(variant) \(1 << 30)", refusedAs: "full", saying: "RLIMIT_AS")
        let left = try SharedObject.list(prefix: "shmtable.\(other)")
        try run.expect(left == [], "\(left) stays behind")
      }
      try run.expect(process, "create \(other) rcu \(1 << 20)", "ok")
      try run.expect(process, "set k v", "ok")
    }
    try run.expect(process, "descriptors", "2")
    try run.expect(process, "limit memory none", "ok")
    try run.expect(process, "open \(name) participant", "participant")
    try run.expect(process, "get k", "v")
    try process.finish()
  }
  run.row(
    "RLIMIT_AS", "a table of 1 GiB opened and made with 128 MiB left",
    "refused as `full`, naming the limit; nothing left behind; a small table works beside, the large one without the limit"
  )
}

func fileLimit(_ run: Run) throws {
  let step = run.bounded(40 << 10, long: 4096)
  var (refused, made) = (0, 0)
  // At creation: at each size that an object grows through.
  for limit in stride(from: 0, through: 3 << 20, by: step) {
    try withTableName { name in
      let process = try startNeighbour()
      try run.expect(process, "limit file \(limit)", "ok")
      let answer = try process.ask("create \(name) rcu \(1 << 20)")
      if answer == "ok" {
        made += 1
      } else {
        refused += 1
        try run.expect(
          answer.hasPrefix("error full") && answer.contains("RLIMIT_FSIZE"), "a limit of \(limit): \(answer)")
        let left = try SharedObject.list(prefix: "shmtable.\(name)")
        try run.expect(left == [], "\(left) stays behind")
      }
      try process.finish()
    }
  }
  try run.expect(refused > 0 && made > 0, "\(refused) refused, \(made) made")
  run.row(
    "RLIMIT_FSIZE at create", "limits from 0 to 3 MiB", "\(refused) refused as `full`, naming the limit; \(made) made")
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      let (limited, other) = (try startNeighbour(), try startNeighbour())
      try run.expect(other, "create \(name) \(variant) \(32 << 20)", "ok")
      try run.expect(other, "fill 100 100 base", "ok")
      try run.expect(limited, "limit file \(4 << 20)", "ok")
      try run.expect(limited, "open \(name) participant", "participant")
      try run.expect(limited, "fill 1000 10000 x", refusedAs: "full", saying: "RLIMIT_FSIZE")
      try run.expect(limited, "count", "100")
      try run.expect(limited, "verify 100 100 base", "ok")
      try run.expect(limited, "set k small", "ok")
      try run.expect(other, "fill 1000 10000 x", "ok")
      try run.expect(limited, "verify 1000 10000 x", "ok")
      try run.expect(limited, "limit file none", "ok")
      try run.expect(limited, "fill 1000 12000 y", "ok")
      try run.expect(other, "check", "ok")
      for process in [limited, other] { try process.finish() }
    }
  }
  run.row(
    "RLIMIT_FSIZE in a barrier, both variants", "a barrier of 10 MB under a limit of 4 MiB",
    "refused as `full`, undone whole, no SIGXFSZ; small writes and other processes go on")
}

func noDescriptors(_ run: Run) throws {
  var refused = 0
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      try withTableName { other in
        let table = try Table.create(
          name, .init(variant: variant == "rcu" ? .rcu : .rwlock, capacityBytes: 1 << 20))
        try table.set("k", "v")
        for free in 0...8 {
          let process = try startNeighbour()
          try run.expect(process, "free-descriptors \(free)", "ok")
          for command in [
            "create \(other) \(variant) \(1 << 20)", "open \(name) participant", "open \(name) observer",
            "open \(name) automatic",
          ] {
            let answer = try process.ask(command)
            if answer.hasPrefix("error") {
              refused += 1
              try run.expect(
                answer.hasPrefix("error system") && answer.contains("EMFILE"), "\(command), \(free) left: \(answer)")
              if command.hasPrefix("create") {
                let left = try SharedObject.list(prefix: "shmtable.\(other)")
                try run.expect(left == [], "\(free) left: \(left) stays behind")
              }
            } else {
              try run.expect(process, "set k v", command.hasSuffix("observer") ? "" : "ok", or: "notPermitted")
              // A full table of descriptors is no reason to believe that the name is gone.
              try run.expect(process, "named", "true")
              if command.hasPrefix("create") { try Table.drop(other) }
            }
            try run.expect(process, "close", "ok")
          }
          try run.expect(process, "limit descriptors none", "ok")
          try run.expect(process, "open \(name) participant", "participant")
          try run.expect(process, "get k", "v")
          try process.finish()
        }
      }
    }
  }
  run.row(
    "RLIMIT_NOFILE, both variants", "create and open with 0 to 8 descriptors left",
    "\(refused) refused with EMFILE and nothing left behind, the rest done")
}

extension Run {
  fileprivate func expect(
    _ process: WorkerProcess, _ command: String, _ expected: String, or code: String
  ) throws {
    let answer = try process.ask(command)
    try expect(answer == expected || answer.hasPrefix("error \(code)"), "\(command): \(answer)")
  }
}
