/// What `stat` says of a table, and what each of it means (`--explain`).
enum StatTerm: String, CaseIterable {
  case table
  case variant
  case access
  case probeID = "probe id"
  case version
  case keys
  case capacity
  case allocated
  case hugePages = "huge pages"
  case used
  case free
  case limbo
  case recoveries
  case evictions
  case damaged
  case writer
  case waits
  case observers
  case readers
  case rate
  case upstream

  var explanation: String {
    switch self {
    case .table: "the table's name; its two objects are /dev/shm/shmtable.NAME.data and .ctl"
    case .variant: "rcu: readers never wait. rwlock: memory is reused at once; readers and barriers exclude each other"
    case .access: "participant: reads in place and may write. observer: may only read, stores nothing anywhere"
    case .probeID: "names the table in the first argument of the USDT probes (bpftrace, perf)"
    case .version:
      "the number of the newest version: grows with each barrier, single write and reclaiming; after a restore it goes on above 2^40"
    case .keys: "keys that are stored, those included that have expired and that nobody removed yet"
    case .capacity: "what the table may hold at most, keys, values and index together; given to 'create'"
    case .allocated: "memory taken from /dev/shm so far; a table claims its capacity as it fills"
    case .hugePages:
      "of the allocated memory, what was backed by pages of 2 MiB when the table last grew: from 16 MiB on, where the kernel does it"
    case .used: "memory that values (old versions too) and index take"
    case .free:
      "room by kind: not claimed yet; superframes, for anything; frames, between others; slabs, for values of one size. "
        + "Much of the last two and little of the others is fragmentation"
    case .limbo: "deleted and old values that wait to be reused, and how much may wait before the table's policy acts"
    case .recoveries: "how often a writer died in a barrier and the next one put its work right; nothing is lost by it"
    case .evictions: "snapshots that were ended because they kept more than the limbo budget"
    case .damaged: "yes: something contradicts itself that no death explains; see 'shmctl check' and 'shmctl repair'"
    case .writer:
      "who runs a barrier now, and for how long; 'died' until the next write puts right what a dead one left"
    case .waits: "how long barriers waited for those before them; those that gave up are not counted"
    case .observers: "handles that observe; nothing of them is stored in the table, the kernel counts them"
    case .readers:
      "threads that hold one of the 1024 slots, and what they do. 'In the way': reclaiming found the reader to keep old values "
        + "since then"
    case .rate: "commits a second since the last look"
    case .upstream: "what the table mirrors, whether changes come, and how old it may be; see 'shmctl upstream status'"
    }
  }
}
