import CFaultyDisk
import Glibc
import SharedTable
import TableStore

// Keeps the store of a table and is killed at an operation of its disk:
//
//   store-worker TABLE DIRECTORY KILL-AT BARRIERS
//
// Each barrier sets two keys to one number and is made durable; then the number is written. Ends after so many of them.
let arguments = CommandLine.arguments
guard arguments.count == 5, let at = UInt64(arguments[3]), let barriers = Int(arguments[4]) else { exit(64) }

/// At once: who is killed has said what it had to say.
func say(_ text: String) {
  let bytes = Array((text + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}

faulty_disk_register()
faulty_disk_plan(FAULTY_DISK_KILL, at)
do {
  let table = try Table.open(arguments[1])
  let follower = try Follower(table, in: StoreDirectory(arguments[2]), disk: "faulty")
  for number in 1...barriers {
    try table.barrier { transaction in
      try transaction.set("a", number)
      if number % 3 == 0 { try transaction.remove("every third") } else { try transaction.set("every third", number) }
      try transaction.set("b", number)
    }
    try follower.sync()
    say("\(number)")
    _ = try follower.tidy()
  }
  follower.close()
  say("end \(faulty_disk_operations())")
} catch {
  say("error \(error)")
}
