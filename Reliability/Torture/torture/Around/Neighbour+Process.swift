import CShims
import Glibc
import SharedMemory
import SharedTable
import TestSupport

// Unavailable in Swift, for good reasons that these items exist to look at; the others take a varying number of
// arguments, which Swift does not import.
@_silgen_name("fork") func cFork() -> Int32
@_silgen_name("prctl") func cPrctl(_ option: Int32, _ a: UInt, _ b: UInt, _ c: UInt, _ d: UInt) -> Int32

extension Neighbour {
  /// What concerns the process more than the table.
  func answerAboutTheProcess(_ words: [String]) throws -> String {
    switch words[0] {
    case "pid": return "\(getpid())"
    case "deny-membarrier": try Seccomp.denyMembarrier()
    case "fencing": return "\(Membarrier.mode)"
    case "limit":
      try Limit(named: words[1]).set(words[2] == "none" ? nil : Int(words[2])!)
    case "limit-memory-beyond-use": try Limit.memory.set(Limit.memoryInUse + Int(words[1])!)
    case "descriptors": return "\(OpenFiles.ofTables)"
    case "free-descriptors": try OpenFiles.leaveFree(Int(words[1])!)
    case "fork": return try forked { try self.answer(Array(words.dropFirst())) }
    case "fork-and-reopen":
      return try forked {
        let refused = described { try self.answer(["get", "k"]) }
        guard refused.hasPrefix("error forked") else { return "not refused: \(refused)" }
        _ = try self.answer(["open", words[1], "participant"])
        _ = try self.answer(["set", "child", "\(getpid())"])
        return try self.answer(["get", "child"]) == "\(getpid())" ? "ok" : "another value"
      }
    case "fork-beside-threads": return try ForkBesideThreads.run(table: words[1], forks: Int(words[2])!)
    case "exec": try becomeAnew()
    case "threads": return try Crowd.comeAndGo(try table, threads: Int(words[1])!, atOnce: Int(words[2])!)
    case "occupy": return try Crowd.occupy(try table, threads: Int(words[1])!)
    case "release": return Crowd.release(Int(words[1])!)
    case "in-thread": return Crowd.inNewThread { described { try self.answer(Array(words.dropFirst())) } }
    default: throw Unavailable("no command \(words)")
    }
    return "ok"
  }

  /// What `body` answers in a child made by fork(), which ends without any clean-up.
  func forked(_ body: () throws -> String) throws -> String {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Unavailable("pipe: \(errno)") }
    let child = cFork()
    if child == 0 {
      let text = Array(described(body).utf8)
      _ = write(ends[1], text, text.count)
      _exit(0)
    }
    close(ends[1])
    defer { close(ends[0]) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(ends[0], &buffer, buffer.count)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    guard count > 0, status == 0 else { return "the child died: status \(status)" }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  /// execve(2) of this program in this role: same process number, nothing else left but its standard streams.
  private func becomeAnew() throws {
    let path = WorkerProcess.productDirectory + "/torture"
    let arguments: [UnsafeMutablePointer<CChar>?] = [
      strdup(path), strdup("worker"), strdup("neighbour"), strdup("anew"), nil,
    ]
    execv(path, arguments)
    throw Unavailable("execv: \(errno)")
  }
}

/// A limit of this process, setrlimit(2); the hard one stays, so that it can be raised again.
struct Limit {
  let resource: __rlimit_resource_t

  static var memory: Limit { Limit(resource: __rlimit_resource_t(RLIMIT_AS.rawValue)) }

  init(resource: __rlimit_resource_t) { self.resource = resource }

  init(named name: String) throws {
    switch name {
    case "memory": resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
    case "file": resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    case "descriptors": resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    default: throw Unavailable("no limit \(name)")
    }
  }

  func set(_ value: Int?) throws {
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = value.map { rlim_t($0) } ?? limit.rlim_max
    guard setrlimit(resource, &limit) == 0 else { throw Unavailable("setrlimit: \(errno)") }
  }

  /// Address space of this process, as /proc/self/statm tells.
  static var memoryInUse: Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, file) != nil else { return 0 }
    return (Int(atol(line))) * 4096
  }
}

/// Descriptors of this process.
enum OpenFiles {
  /// How many lead to a table's object.
  static var ofTables: Int {
    var count = 0
    for descriptor in 0..<4096 {
      var buffer = [CChar](repeating: 0, count: 512)
      let length = readlink("/proc/self/fd/\(descriptor)", &buffer, 511)
      if length > 0, strstr(buffer, "shmtable.") != nil { count += 1 }
    }
    return count
  }

  /// Limits the descriptors so that exactly `count` more can be had.
  static func leaveFree(_ count: Int) throws {
    let descriptors = Limit(resource: __rlimit_resource_t(RLIMIT_NOFILE.rawValue))
    try descriptors.set(nil)
    // The limit is one on numbers, and numbers in use may lie anywhere: count from the lowest that leaves `count` free.
    var free = 0
    var number = 0
    while free < count {
      if fcntl(Int32(number), F_GETFD) < 0 { free += 1 }
      number += 1
    }
    if count == 0 {
      while fcntl(Int32(number), F_GETFD) >= 0 { number += 1 }
    }
    try descriptors.set(number)
  }
}

/// A filter of system calls, seccomp(2), in the kernel's own byte code. It is inherited, and nothing takes it back.
enum Seccomp {
  private static let load: UInt16 = 0x20  // BPF_LD | BPF_W | BPF_ABS
  private static let jumpIfEqual: UInt16 = 0x15  // BPF_JMP | BPF_JEQ | BPF_K
  private static let answer: UInt16 = 0x06  // BPF_RET | BPF_K
  #if arch(x86_64)
    private static let membarrier: UInt32 = 324
  #else
    private static let membarrier: UInt32 = 283
  #endif

  static func denyMembarrier() throws {
    let number: UInt32 = 0  // of seccomp_data.nr
    let allow: UInt32 = 0x7fff_0000
    let refuse: UInt32 = 0x0005_0000 | UInt32(EPERM)
    var program = [
      sock_filter(code: load, jt: 0, jf: 0, k: number), sock_filter(code: jumpIfEqual, jt: 0, jf: 1, k: membarrier),
      sock_filter(code: answer, jt: 0, jf: 0, k: refuse), sock_filter(code: answer, jt: 0, jf: 0, k: allow),
    ]
    let done = program.withUnsafeMutableBufferPointer { instructions in
      var description = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
      return withUnsafeMutablePointer(to: &description) { place in
        // PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
        cPrctl(38, 1, 0, 0, 0) == 0 && cPrctl(22, 2, UInt(bitPattern: place), 0, 0) == 0
      }
    }
    guard done else { throw Unavailable("no seccomp filter can be set: \(errno)") }
  }

  /// As the kernel lays them out (linux/filter.h), which Glibc's module leaves out.
  private struct sock_filter {
    var code: UInt16
    var jt: UInt8
    var jf: UInt8
    var k: UInt32
  }
  private struct sock_fprog {
    var len: UInt16
    var filter: UnsafeMutablePointer<sock_filter>?
  }
}
