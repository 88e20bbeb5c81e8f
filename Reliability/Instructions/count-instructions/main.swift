// Does one operation a number of times on a table of 10,000 keys, for callgrind to count (Reliability/Instructions/count.sh).
//
//   count-instructions --list               the operations, and how often each is done in the shorter of two runs
//   count-instructions OPERATION TIMES
//
// Keys of 16 bytes in random order, values of 64. Exit status: 0; 2 if something failed or the operation is unknown.

import Glibc

do {
  let arguments = CommandLine.arguments.dropFirst()
  if arguments == ["--list"] {
    for operation in Operation.allCases { print(operation.rawValue, operation.times) }
    exit(0)
  }
  guard arguments.count == 2, let operation = Operation(rawValue: arguments[1]), let times = Int(arguments[2]) else {
    print("usage: count-instructions --list | OPERATION TIMES")
    exit(2)
  }
  let workload = try Workload(variant: operation == .getRWLock ? .rwlock : .rcu, isMirror: operation == .getMirrored)
  try workload.run(operation, times: times)
} catch {
  print("count-instructions: \(error)")
  exit(2)
}
