// The README's second example, compiled. scripts/tidy.sh compares the two.

import SharedTable

let table = try Table.open("settings")
let queue = try BarrierQueue(in: table, label: "org.example.settings")
try queue.async(flags: .barrier) { tx in try tx.increment("visits") }  // GCD's order within the queue
let visits = try await queue.read { view in try view.get("visits", as: Int.self) }  // so this sees it

let hits = try SharedCounter("hits", in: table)  // a key like any other: `shmctl get hits`
try hits.increment()
let sessions = try SharedCache<String, String>(
  "sessions", in: table, limit: .entries(10_000), timeToLive: .seconds(3600))
func load(_ id: String) async throws -> String { "guest" }  // from a database, say
let user = try await sessions.value(forKey: "s1") { try await load("s1") }  // once on the host; others wait for it
// What every process changes from now on, in order; the loop goes on until its task is cancelled.
for try await change in table.changes(prefix: "sessions/") { print(change) }
