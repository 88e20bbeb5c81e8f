// What mirroring costs, by programs of one process each, which bench.py puts together (make mirror-bench, make mirror-crowd).
//
//   mirror-probe fill ADDRESS COUNT              stores so many small keys
//   mirror-probe write ADDRESS KEYS RATE SECONDS stores into random ones of them, so often a second; a value is the moment of its issue
//   mirror-probe watch ADDRESS                   takes events as a client of etcd does, and says how long after its issue each came
//   mirror-probe follow TABLE                    takes changes of a mirrored table, and says the same
//   mirror-probe read ADDRESS                    reads all pages as a mirror does, and throws them away
//   mirror-probe mirror ADDRESS COUNT BYTES      mirrors into so many tables of that capacity
//   mirror-probe simulate HOSTS [OUTAGE START]   reconnects after outages, by the waits of BackOff; or after one, in milliseconds, in the
//                                                last of which the store takes connections and does not answer yet
//
// ADDRESS is that of an upstream. Those that have no end of their own print "ready" and end with their input. Exit status: 0; 2 if
// something failed. Built with the trait Etcd alone.

#if Etcd
  import Glibc

  do {
    try await Role(Array(CommandLine.arguments.dropFirst())).run()
  } catch {
    print("mirror-probe: \(error)")
    exit(2)
  }
#endif
