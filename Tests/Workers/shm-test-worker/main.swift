// One process of a test: does what it is told, line by line, and answers each command with one line.
// Offsets are into the object that `map` mapped.

import CShims
import Glibc
import SharedMemory

// Unavailable in Swift, for good reasons that the tests of forking exist to look at.
@_silgen_name("fork") func cFork() -> Int32

nonisolated(unsafe) var mapping: Mapping?
/// For a signal's handler.
nonisolated(unsafe) var signalled: (parent: Int32, generation: UInt64, tookChildForParent: Bool) = (0, 0, false)

func place(_ words: [Substring], _ index: Int = 1) -> UnsafeMutableRawPointer { mapping!.base + Int(words[index])! }
func milliseconds(_ word: Substring) -> UInt64 { UInt64(word)! * 1_000_000 }

/// The exit code of a forked child that runs `body`: 0 if it returned true.
func forked(_ body: () -> Bool) -> String {
  let pid = cFork()
  if pid == 0 { _exit(body() ? 0 : 1) }
  var status: Int32 = 0
  while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  return status == 0 ? "ok" : "child ended with \(status)"
}

/// Runs `body` in a thread of its own and waits for that thread's end.
func inThread(_ body: @escaping @Sendable () -> Void) {
  let box = Unmanaged.passRetained(body as AnyObject)
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { argument in
      (Unmanaged<AnyObject>.fromOpaque(argument!).takeRetainedValue() as! @Sendable () -> Void)()
      return nil
    }, box.toOpaque())
  pthread_join(thread, nil)
}

func answer(_ words: [Substring]) throws(SystemError) -> String {
  switch words[0] {
  case "map":
    let writable = words[3] == "rw"
    mapping = try SharedObject.open(name: String(words[1]), writable: writable)
      .map(count: Int(words[2])!, writable: writable)
    return "ok"

  case "lock": return "\(RobustMutex(at: place(words)).lock(timeoutNanoseconds: milliseconds(words[2])))"
  case "trylock": return "\(RobustMutex(at: place(words)).tryLock())"
  case "consistent":
    try RobustMutex(at: place(words)).markConsistent()
    return "ok"
  case "unlock":
    try RobustMutex(at: place(words)).unlock()
    return "ok"
  case "lock-in-thread-that-ends":
    let mutex = RobustMutex(at: place(words))
    inThread { _ = mutex.tryLock() }
    return "\(mutex.tryLock())"

  case "tryread": return "\(SharedRWLock(at: place(words)).tryRead())"
  case "trywrite": return "\(SharedRWLock(at: place(words)).tryWrite())"
  case "rwunlock":
    SharedRWLock(at: place(words)).unlock()
    return "ok"

  case "wait":
    let event = FutexEvent(at: place(words))
    return "\(event.wait(while: UInt32(words[2])!, timeoutNanoseconds: milliseconds(words[3])))"

  case "is-regular": return try "\(SharedObject.open(name: String(words[1]), writable: false).status().isRegular)"

  case "open-as-nobody":
    // As root no permission bit stops us; anyone else is stopped by the missing bits as he is.
    if geteuid() == 0 { setuid(65534) }
    _ = try SharedObject.open(name: String(words[1]), writable: false)
    return "opened"

  case "is-alive-to-nobody":
    if geteuid() == 0 { setuid(65534) }
    return "\(ProcessIdentity.isAlive(pid: Int32(words[1])!))"

  case "map-with-limited-address-space":
    var limit = rlimit(rlim_cur: 1 << 33, rlim_max: 1 << 33)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    _ = try SharedObject.open(name: String(words[1]), writable: true).map(count: 1 << 36, writable: true)
    return "mapped"

  case "fork-forgets-records":
    let segments = UInt64(1)...40  // some in the thread's state, some in its chunks
    for segment in segments { _ = shm_thread_add(segment) }
    let generation = shm_fork_generation()
    let child = forked {
      shm_fork_generation() == generation + 1 && segments.allSatisfy { shm_thread_find($0) == nil }
        && shm_thread_add(7) != nil && shm_thread_find(7) != nil
    }
    let isUnchanged =
      shm_fork_generation() == generation && segments.allSatisfy { shm_thread_find($0)?.pointee.segment == $0 }
    return isUnchanged ? child : "the parent lost its records"

  case "fork-leaves-lock-to-parent":
    let name = String(words[1])
    let object = try SharedObject.create(name: name, mode: 0o600)
    var claim = try UninheritedLock(of: object, name: name)
    guard try claim?.tryLock() == true else { return "cannot lock" }
    func count() -> Int { (0..<64).filter { fcntl($0, F_GETFD) >= 0 }.count }
    let before = count()
    let child = forked { count() == before - 1 && fcntl(object.descriptor, F_GETFD) >= 0 }
    guard child == "ok" else { return "while it is locked: \(child)" }
    guard try !object.tryLock(.exclusive) else { return "the child took the parent's lock away" }
    claim = nil
    guard try object.tryLock(.exclusive) else { return "still locked" }
    return forked { count() == before - 1 }

  case "fork-does-not-hold":
    let mutex = RobustMutex(at: place(words))
    guard mutex.tryLock() == .acquired else { return "cannot lock" }
    let child = forked {
      guard mutex.tryLock() == .busy else { return false }
      do throws(SystemError) { try mutex.unlock() } catch { return error.errno == EPERM }
      return false
    }
    try mutex.unlock()  // and the child's end has not released it
    return child

  case "fork-keeps-registration":
    guard Membarrier.mode == .light else { return "ok" }
    // MEMBARRIER_CMD_GET_REGISTRATIONS, since Linux 6.3; what it tells includes the private registration of liburcu.
    let query = Int(1 << 9)
    let registrations = membarrier(query)
    if registrations < 0 { return "ok" }
    return registrations & 4 == 0 ? "not registered" : forked { membarrier(query) & 4 != 0 }

  case "fork-inside-section":
    shm_rcu_read_lock()
    let inside = shm_rcu_synchronize()
    let child = forked {
      let whileInside = shm_rcu_synchronize()
      shm_rcu_read_unlock()
      return !whileInside && !shm_rcu_synchronize()
    }
    shm_rcu_read_unlock()
    return inside || !shm_rcu_synchronize() ? "the parent's grace periods are wrong" : child

  case "fork-beside-signals":
    // Another thread signals the whole group all the time: some signals are for a child that has not yet returned from fork().
    setpgid(0, 0)
    signalled = (getpid(), shm_fork_generation(), false)
    signal(SIGUSR1) { _ in
      let isChild = getpid() != signalled.parent
      if isChild, shm_fork_generation() == signalled.generation { signalled.tookChildForParent = true }
    }
    let isOver = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    defer { isOver.deallocate() }
    isOver.storeBytes(of: 0, as: UInt64.self)
    var sender = pthread_t()
    pthread_create(
      &sender, nil,
      { isOver in
        while shm_load_acquire(isOver!) == 0 { kill(0, SIGUSR1) }
        return nil
      }, isOver)
    var answer = "ok"
    for _ in 0..<100 where answer == "ok" { answer = forked { !signalled.tookChildForParent } }
    shm_store_release(isOver, 1)
    pthread_join(sender, nil)
    signal(SIGUSR1, SIG_IGN)
    return answer

  case "fork-inside-section-beside-locks":
    // Another thread holds ForkLock, and liburcu's locks as one that waits for this section's end does.
    let words = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
    defer { words.deallocate() }
    words.initializeMemory(as: UInt64.self, repeating: 0, count: 2)
    shm_rcu_read_lock()
    var holder = pthread_t()
    pthread_create(
      &holder, nil,
      { words in
        ForkLock.hold {
          urcu_bp_before_fork()
          shm_store_release(words!, 1)
          while shm_load_acquire(words! + 8) == 0 { sched_yield() }
          urcu_bp_after_fork_parent()
        }
        return nil
      }, words)
    while shm_load_acquire(words) == 0 { sched_yield() }
    let result = forked {
      alarm(20)  // a child that hangs is a failure
      shm_rcu_read_unlock()
      return ForkLock.hold { true }
        && forked {
          alarm(20)
          return ForkLock.hold { true } && !shm_rcu_synchronize()
        } == "ok"
    }
    shm_rcu_read_unlock()
    shm_store_release(words + 8, 1)
    pthread_join(holder, nil)
    return shm_rcu_synchronize() ? result : "the parent has no grace periods"

  case "fork-beside-grace-periods":
    // Another thread opens sections and waits for grace periods all the time: the child must not inherit its locks.
    let isOver = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    defer { isOver.deallocate() }
    isOver.storeBytes(of: 0, as: UInt64.self)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { isOver in
        while shm_load_acquire(isOver!) == 0 {
          shm_rcu_read_lock()
          shm_rcu_read_unlock()
          _ = shm_rcu_synchronize()
        }
        return nil
      }, isOver)
    var result = "ok"
    for _ in 0..<100 where result == "ok" {
      result = forked {
        alarm(20)  // a child that hangs is a failure
        shm_rcu_read_lock()
        shm_rcu_read_unlock()
        return shm_rcu_synchronize()
      }
    }
    shm_store_release(isOver, 1)
    pthread_join(thread, nil)
    return result

  case "identity":
    return "\(ProcessIdentity.pid) \(try ProcessIdentity.startTime(of: ProcessIdentity.pid)) "
      + ProcessIdentity.commandName.description

  default: return "unknown command \(words[0])"
  }
}

@_silgen_name("syscall") func cSyscall(_ number: Int, _ a: Int, _ b: Int, _ c: Int) -> Int
func membarrier(_ command: Int) -> Int { cSyscall(Int(SYS_membarrier), command, 0, 0) }

/// The next command; nil at the end of input.
func nextLine() -> String? {
  // Where it is EINTR, as a command that sleeps beside signals may leave it, readLine() tries again for ever at the end of input.
  errno = 0
  return readLine()
}

while let line = nextLine() {
  do {
    print(try answer(line.split(separator: " ")))
  } catch {
    print(error)
  }
  fflush(nil)
}
