import CTrace
import Glibc

/// The tracer itself: what the other items conclude from.
let tracerItem = Item("images.tracer", "the tracer sees each instruction, fault and system call of a worker") { run in
  let tracee = try Tracee("tracer-subject")
  let address = try tracee.runToMarker(1)
  try run.expect(try tracee.inject(SYS_getpid) == Int64(tracee.pid), "an injected getpid was another's")
  var (steps, calls, faults) = (0, 0, 0)
  stepping: while true {
    switch try tracee.step() {
    case .stepped: steps += 1
    case .syscallEntry(let number, let arguments):
      if Tracee.markerCode(number, arguments) == 2 { break stepping }
      calls += 1
    case .signal(SIGSEGV, let at):
      faults += 1
      try run.expect(at == address, "a fault at \(at) instead of \(address)")
      let opened = try tracee.inject(SYS_mprotect, at, 4096, UInt64(PROT_READ | PROT_WRITE))
      try run.expect(opened == 0, "mprotect came to \(opened)")
    case .syscallExit: break
    case let stop: throw tracee.failure("unexpected: \(stop)")
    }
  }
  try run.expect(steps > subjectRounds, "\(steps) steps through \(subjectRounds) rounds")
  try run.expect(calls == 1 && faults == 1, "\(calls) system calls and \(faults) faults instead of one each")
  try tracee.finish()
}

private let subjectRounds = 1000

/// A loop, a system call and a fault, between markers.
let serveTracerSubject: @Sendable ([String]) throws -> Void = { _ in
  let page = mmap(nil, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  ct_mark(1, UInt64(UInt(bitPattern: page)))
  var sum = 0
  for round in 0..<subjectRounds { sum = (sum &* 31) ^ round }
  page.storeBytes(of: sum, as: Int.self)
  _ = getppid()
  ct_mark(2, 0)
}
