import Glibc
import SharedMemory
import TestSupport

/// Runs `body` with a mapped object of one page of zeros and a worker that maps it too.
func withSharedPage<R>(
  workerWrites: Bool = true,
  _ body: (_ page: UnsafeMutableRawPointer, _ name: String, _ worker: WorkerProcess) throws -> R
) throws -> R {
  try withObjectName { name in
    let object = try SharedObject.create(name: name, mode: 0o600)
    try object.allocate(offset: 0, count: 4096)
    let mapping = try object.map(count: 4096, writable: true)
    // A thread of the pool may still hold a mutex in it when a test has failed half-way.
    mapping.leak()
    let worker = try startWorker(name, writes: workerWrites)
    return try body(mapping.base, name, worker)
  }
}

func startWorker(_ name: String, writes: Bool = true) throws -> WorkerProcess {
  let worker = try WorkerProcess("shm-test-worker")
  try worker.send("map \(name) 4096 \(writes ? "rw" : "ro")")
  try worker.expectLine("ok")
  return worker
}

let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
