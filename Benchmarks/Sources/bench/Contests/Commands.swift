import SharedTable

/// A whole process that gets one value: what a script pays.
func commandContest(shmctl: String) throws -> Contest {
  let workload = Workload(keyCount: 10_000)
  let ours = try OurTable(workload)
  try ours.table.set("greeting", "hello")
  let server = try Server.redis()
  func run(_ program: String, _ arguments: [String]) throws {
    let process = try ChildProcess(program, arguments)
    guard try process.readLine().contains("hello") || arguments.contains("SET") else {
      throw Failure("\(program) did not say hello")
    }
    guard process.wait() == 0 else { throw Failure("\(program) failed") }
  }
  try run("redis-cli", ["-s", server.socket, "SET", "greeting", "hello"])
  return Contest(
    name: "command", work: "a process that prints one value", reference: "redis-cli get",
    contestants: [
      Contestant("redis-cli get") { _ in
        for _ in 0..<20 { try run("redis-cli", ["-s", server.socket, "GET", "greeting"]) }
        return 20
      },
      Contestant("shmctl get") { _ in
        for _ in 0..<20 { try run(shmctl, ["get", "--table", ours.table.name, "greeting"]) }
        return 20
      },
      // What it takes to start a program at all.
      Contestant("echo") { _ in
        for _ in 0..<20 { try run("echo", ["hello"]) }
        return 20
      },
    ])
}
