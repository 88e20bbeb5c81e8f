import SharedMemory
import SharedTable
import TestSupport

func recreated(_ run: Run) throws {
  let rounds = run.bounded(30, long: 1000)
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      let (maker, reader) = (try startNeighbour(), try startNeighbour())
      try run.expect(maker, "create \(name) \(variant) \(1 << 20)", "ok")
      try run.expect(maker, "set k 0", "ok")
      try run.expect(reader, "open \(name) participant", "participant")
      for round in 1...rounds {
        let inSection = round % 3 == 0
        if inSection { try run.expect(reader, "read", "inside") }
        // In good order, and behind everybody's back.
        if round % 2 == 0 {
          try run.expect(maker, "drop \(name)", "ok")
        } else {
          for object in ["shmtable.\(name).data", "shmtable.\(name).ctl"] { try SharedObject.unlink(name: object) }
        }
        try run.expect(maker, "create \(name) \(variant) \(1 << 20)", "ok")
        try run.expect(maker, "set k \(round)", "ok")
        try run.expect(reader, "get k", "\(round - 1)")
        try run.expect(reader, "named", "false")
        if inSection { try run.expect(reader, "end", "ended") }
        if round % 2 == 0 { try run.expect(reader, "set k lost", refusedAs: "unlinked", saying: "open it again") }
        try run.expect(reader, "open \(name) participant", "participant")
        try run.expect(reader, "named", "true")
        try run.expect(reader, "get k", "\(round)")
        try run.expect(reader, "set k \(round)", "ok")
        try run.expect(maker, "get k", "\(round)")
      }
      for process in [maker, reader] { try process.finish() }
    }
  }
  run.row(
    "dropped and made anew, both variants", "\(rounds) times under a reader, by `drop` and by unlink behind its back",
    "the old handle reads the old table, says that it is not named and refuses writes; a new one finds the new table")
}

func twoCreators(_ run: Run) throws {
  let rounds = run.bounded(150, long: 5000)
  var (won, opened) = ([0, 0], 0)
  let creators = [try startNeighbour(), try startNeighbour()]
  for round in 0..<rounds {
    try withTableName { name in
      for creator in creators { try creator.send("create \(name) \(round % 2 == 0 ? "rcu" : "rwlock") \(1 << 20)") }
      let answers = try creators.map { try $0.readLine() }
      let winners = answers.indices.filter { answers[$0] == "ok" }
      try run.expect(winners.count == 1, "two creators: \(answers)")
      guard let winner = winners.first else { return }
      won[winner] += 1
      let loser = 1 - winner
      try run.expect(answers[loser].hasPrefix("error exists"), "the other creator: \(answers[loser])")
      try run.expect(creators[winner], "set k \(round)", "ok")
      try run.expect(creators[loser], "open \(name) participant", "participant")
      opened += 1
      try run.expect(creators[loser], "get k", "\(round)")
      // The next round: one of them drops what the other may be opening or making anew.
      try creators[0].send("drop \(name)")
      try creators[1].send("create \(name) rcu \(1 << 20)")
      try run.expect(try creators[0].readLine() == "ok", "a table could not be dropped")
      let again = try creators[1].readLine()
      try run.expect(again == "ok" || again.hasPrefix("error exists"), "beside a drop: \(again)")
      for creator in creators { try run.expect(creator, "close", "ok") }
    }
  }
  for creator in creators { try creator.finish() }
  run.row(
    "two creators at once", "\(rounds) rounds, half of each variant; the loser opens",
    "exactly one won each time (\(won[0]) and \(won[1])), the other was told `exists` and opened the same table")
}

func oppositeOrders(_ run: Run) throws {
  let rounds = run.bounded(3, long: 100)
  for variant in ["rcu", "rwlock"] {
    try withTableName { one in
      try withTableName { two in
        // Each process has one table open, and a second handle in a helper's place: a barrier of the first holds.
        let (a, b) = (try startNeighbour(), try startNeighbour())
        try run.expect(a, "create \(one) \(variant) \(1 << 20)", "ok")
        try run.expect(b, "create \(two) \(variant) \(1 << 20)", "ok")
        for _ in 0..<rounds {
          try run.expect(a, "open \(one) participant", "participant")
          try run.expect(b, "open \(two) participant", "participant")
          try run.expect(a, "barrier", "inside")
          try run.expect(b, "barrier", "inside")
          try run.expect(a, "open \(two) participant", "participant")
          try run.expect(b, "open \(one) participant", "participant")
          try a.send("set k a 60")
          try b.send("set k b 120")
          for (process, holder) in [(a, b), (b, a)] {
            let answer = try process.readLine()
            try run.expect(
              answer.hasPrefix("error timedOut pid \(holder.pid):"), "in opposite orders: \(answer)")
          }
          try run.expect(a, "end", "ended")
          try run.expect(b, "set k b", "ok")
          try run.expect(b, "end", "ended")
          try run.expect(a, "set k a", "ok")
        }
        for process in [a, b] { try process.finish() }
      }
    }
  }
  run.row(
    "two tables in opposite orders, both variants", "\(rounds) times, by two processes",
    "both timed out, each naming the other; both went on when the first left")
}
