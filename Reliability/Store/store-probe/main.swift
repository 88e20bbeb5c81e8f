// What storing costs, in one run, so that whatever else the machine does falls on both sides of a ratio alike.
//
//   store-probe [DIRECTORY]
//
// DIRECTORY is where the stores lie, on the disk that is measured; without it one in /var/tmp. Exit status: 0; 2 if something
// failed. A figure above its bar is told, and is no failure: disks differ.

import Glibc

do {
  try Probe(directory: CommandLine.arguments.dropFirst().first ?? "/var/tmp").run()
} catch {
  print("store-probe: \(error)")
  exit(2)
}
