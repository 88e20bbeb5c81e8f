import Glibc
import SharedTable

// Dies in the middle of a barrier, for the daemon to find: `shmd-test-worker TABLE`. Says "inside" and waits for the
// signal that kills it.
let table = try Table.open(CommandLine.arguments[1], access: .participant)
try table.barrier { transaction in
  try transaction.set("half", "done")
  print("inside")
  fflush(nil)
  while true { pause() }
}
