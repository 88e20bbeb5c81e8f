#if Etcd
  import EtcdSource
  import Glibc
  import SharedTable
  import TableMirror

  guard CommandLine.arguments.count == 3, let port = Int(CommandLine.arguments[1]),
    let keys = Int(CommandLine.arguments[2])
  else {
    print("usage: etcd-probe PORT KEYS")
    exit(64)
  }
  let probe = Probe(port: port, keys: keys)
  try await probe.run()
#else
  print("built without the trait Etcd")
#endif
