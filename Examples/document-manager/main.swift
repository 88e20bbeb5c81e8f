// A list of documents that all processes of the host share.
//
//   document-manager TABLE add NAME...    adds documents; an empty name is refused
//   document-manager TABLE list           prints them, a line each
//   document-manager TABLE identity       prints what is the same in every process
//
// Makes the table if there is none. Exit status: 0 done, 1 failed, 2 usage.

import Glibc
import SharedTable

func complain(_ text: String, status: Int32) -> Never {
  let line = Array("document-manager: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(status)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { complain("usage: document-manager TABLE add NAME... | list | identity", status: 2) }

do {
  let manager = try DocumentManager(try Table.openOrCreate(arguments[1], Table.Options(capacityBytes: 16 << 20)))
  switch arguments[2] {
  case "add":
    for name in arguments.dropFirst(3) { try manager.add(name) }
  case "list":
    for name in try manager.all() { print(name) }
  case "identity":
    print(manager.identity)
  default:
    complain("there is no '\(arguments[2])'; say add, list or identity", status: 2)
  }
} catch DocumentManager.Failure.emptyName {
  complain("a document needs a name", status: 1)
} catch {
  complain("\(error)", status: 1)
}
