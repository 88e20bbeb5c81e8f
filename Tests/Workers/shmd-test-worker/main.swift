import Glibc
import SharedTable

// `shmd-test-worker TABLE`: dies in the middle of a barrier, for the daemon to find. Says "inside" and waits for the signal
// that kills it.
//
// `shmd-test-worker TABLE FILE`: writes and reads until the file exists, and fails at the first error or wrong value: a client
// that must not notice what happens to the daemon. Says "working" when it has begun, and how much it did at the end.
let table = try Table.open(CommandLine.arguments[1], access: .participant)
if CommandLine.arguments.count > 2 {
  let key = "worker.\(getpid())"
  var count = 0
  repeat {
    try table.set(key, count)
    guard try table.get(key, as: Int.self) == count else { fatalError("\(key) is not \(count)") }
    if count == 0 {
      print("working")
      fflush(nil)
    }
    count += 1
  } while access(CommandLine.arguments[2], F_OK) != 0
  print("wrote \(count) times without an error")
} else {
  try table.barrier { transaction in
    try transaction.set("half", "done")
    print("inside")
    fflush(nil)
    while true { pause() }
  }
}
