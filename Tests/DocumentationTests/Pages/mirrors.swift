import SharedTable

// What docs/mirrors.md shows. scripts/tidy.sh looks that it does.

func readingAMirror() throws -> (limit: String?, keys: [[UInt8]], lag: Duration?, status: UpstreamStatus?) {
  let table = try Table.open("settings")
  let limit = try table.get("limit", as: String.self)
  let keys = try table.read(maximumLag: .seconds(10)) { view in try view.keys() }  // throws `behind` if it may be older
  let lag = try table.upstream.lag  // how old it may be, at most
  let status = try table.upstream.status()  // following, away or stopped; which revision; why
  return (limit, keys, lag, status)
}

func writingToAMirror(_ table: Table) throws -> (visits: Int64, isMine: Bool) {
  try table.upstream.set("limit", "9")  // text, or bytes
  let visits = try table.upstream.increment("visits")  // no two callers, on whatever host, get the same
  try table.upstream.remove("draft")
  let isMine = try table.upstream.transaction { tx in  // one transaction of etcd
    guard try !tx.contains("leader") else { return false }
    try tx.set("leader", "host-7")
    return true
  }
  return (visits, isMine)
}
