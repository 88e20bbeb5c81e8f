import SharedTable

/// Commands that run accessors, for the tests of what happens to others and after a death.
func accessAnswer(_ words: [String]) throws -> String {
  let a = Guarded("a", in: table, default: 0)
  let b = Guarded("b", in: table, default: 0)
  switch words[0] {
  case "access-move":
    let move = a.accessor { $0 -= 1 }.zip(b.accessor { $0 += 1 })
    for _ in 0..<Int(words[1])! { _ = try move.accessSync() }
    return "ok"
  case "access-sum":
    return "\(try a.accessor { $0 }.zip(b.accessor { $0 }).map { $0 + $1 }.accessSync())"
  case "access-stepwise":
    // Between its two changes it waits for a command.
    let first = a.accessor { value in
      value -= 1
      say("in")
      guard nextCommand() == ["on"] else { throw Abort() }
    }
    _ = try first.zip(b.accessor { $0 += 1 }).accessSync()
    return "ok"
  case "access-fork-observer":
    // As it forks, a change is under way, which keeps the parent's queue.
    let (inside, leave) = (FutexFlag(), FutexFlag())
    let change = try a.accessor { (value: inout Int) in
      inside.raise()
      leave.wait()
      value += 1
    }.accessAsync()
    inside.wait()
    let said = forked {
      outcome {
        let observer = try Table.open(table.name, access: .observer)
        return "\(try Guarded("a", in: observer, default: 0).accessor { $0 }.accessSync())"
      }
    }
    leave.raise()
    try change.wait()
    return said
  default: return "unknown command \(words[0])"
  }
}
