// The README's first example, compiled. scripts/tidy.sh compares the two.

import SharedTable

// Any process may do so: the first makes the table, the others open it as it is, whatever the options.
let table = try Table.openOrCreate("settings", Table.Options(capacityBytes: 64 << 20))
try table.set("greeting", "hello", expires: .after(.seconds(60)))
let greeting = try table.get("greeting", as: String.self)

try table.barrier { tx in  // alone on the host; all of it or, if it throws or its process dies, nothing
  try tx.increment("visits")
  try tx.set("last", greeting ?? "nobody")
}
let visits = try table.read { view in try view.get("visits", as: Int.self) }  // one snapshot
print("visit \(visits ?? 0)")  // run it twice
