// Sessions shared by the worker processes of a service: one writes, several read.
//
//   session-cache TABLE write COUNT    begins sessions s0, s1, …, then says so, and ends when its input does
//   session-cache TABLE read           looks sessions up until its input ends; prints hits and misses
//   session-cache TABLE user ID        prints a session's user; signs a guest in if there is none
//
// Makes the table if there is none. Exit status: 0 done, 1 failed, 2 usage.

import Glibc
import SharedTable

/// Of so many sessions the cache keeps the most used.
let limit = 1000

func complain(_ text: String, status: Int32) -> Never {
  let line = Array("session-cache: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(status)
}

/// Whoever started us has gone, or closed our input to say that it is time.
func isTimeToEnd() -> Bool {
  var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  return poll(&input, 1, 0) != 0
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}

func write(_ sessions: SessionCache, _ count: Int) throws {
  for number in 0..<count { try sessions.begin("s\(number)", user: "user\(number)") }
  say("begun \(count)")
  _ = readLine()
}

func read(_ sessions: SessionCache) throws {
  say("reading")
  var (hits, misses) = (0, 0)
  while !isTimeToEnd() {
    for _ in 0..<100 {
      // Young sessions are asked for more often.
      let number = Int.random(in: 0...Int.random(in: 0..<2 * limit))
      if try sessions.user(of: "s\(number)") == nil { misses += 1 } else { hits += 1 }
    }
  }
  say("hits \(hits) misses \(misses)")
}

/// What to do, as the arguments say. Judged before any table is made.
func work(_ arguments: [String]) -> (SessionCache) throws -> Void {
  switch (arguments.dropFirst(2).first, arguments.dropFirst(3).first) {
  case ("write", let text?):
    guard let count = Int(text), count >= 0 else { complain("'\(text)' is no number of sessions", status: 2) }
    return { sessions in try write(sessions, count) }
  case ("read", nil): return read
  case ("user", let id?): return { sessions in print(try sessions.user(of: id) { "guest" }) }
  default: complain("usage: session-cache TABLE write COUNT | read | user ID", status: 2)
  }
}

do {
  let work = work(CommandLine.arguments)
  let table = try Table.openOrCreate(CommandLine.arguments[1], Table.Options(capacityBytes: 16 << 20))
  try work(try SessionCache(table, limit: limit))
} catch {
  complain("\(error)", status: 1)
}
