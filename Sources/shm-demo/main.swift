// The table at work: `make demo`.
//
// Several processes read the package database of this machine from a table while another, which is just rewriting
// it, is killed in the middle of its barrier. Once in each variant. The story is told in Story.swift; what readers
// and writers do with the table, and nothing else, is in Roles.swift.
//
//   shm-demo                   runs the story; exit status 0, 1 if a check failed, 2 if it could not run
//   shm-demo ROLE TABLE        a process of the story: reader, loader, victim

import Glibc
import SharedTable

let arguments = CommandLine.arguments
do {
  if arguments.count == 3, let role = Role(rawValue: arguments[1]) {
    try role.run(on: try Table.open(arguments[2]))
  } else if arguments.count == 1 {
    exit(try Story().tell() ? 0 : 1)
  } else {
    throw Trouble("usage: shm-demo")
  }
} catch {
  complain("shm-demo: \(error)")
  exit(2)
}
