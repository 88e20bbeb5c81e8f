import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

func firstSteps() throws -> Int? {
  let table = try Table.openOrCreate("settings", Table.Options(capacityBytes: 64 << 20))
  try table.set("greeting", "hello")
  try table.barrier { tx in
    try tx.increment("visits")
    try tx.set("last", "world")
  }
  let visits = try table.read { view in try view.get("visits", as: Int.self) }
  return visits
}
