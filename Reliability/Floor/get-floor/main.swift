// What `get` costs beside the same lookup without any synchronisation (CFloor), in one run: rounds of both take
// turns, so that whatever else the machine does falls on both alike; the ratio is that of the medians.
//
//   get-floor [rounds]
//
// Keys of 16 bytes, values of 100, every lookup a hit, in random order. Exit status: 0; 1 if a ratio is above what
// is promised; 2 if something failed.

import Glibc

do {
  let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
  exit(try measureAll(rounds: max(1, rounds), promisedRatio: 1.8) ? 0 : 1)
} catch {
  print("get-floor: \(error)")
  exit(2)
}
