// Coverage-guided fuzzing (libFuzzer) of what a table says to those who do not trust it (G8).
//
//   FUZZ_TARGET=observer|attach fuzz [options of libFuzzer] [corpus directory...]
//
// Built with SHAREDTABLE_FUZZ=1 alone; Reliability/Fuzz/run.sh does that. The target is named by the environment because
// libFuzzer starts further processes with its own command line.

import Glibc

@_extern(c, "LLVMFuzzerRunDriver")
func runDriver(
  _ argc: UnsafeMutablePointer<Int32>,
  _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ execute: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// What costs most of an execution and finds nothing here. ASAN_OPTIONS overrides it, to look into a finding.
/// Asked for before anything of Swift is initialised: a static string needs nothing.
@_cdecl("__asan_default_options")
func sanitizerOptions() -> UnsafePointer<UInt8>? {
  let options: StaticString =
    "malloc_context_size=0:detect_stack_use_after_return=0:quarantine_size_mb=8:allocator_may_return_null=1"
  return options.utf8Start
}

nonisolated(unsafe) var execute: (UnsafeRawBufferPointer) -> Void = { _ in }

func run() throws -> Int32 {
  switch getenv("FUZZ_TARGET").map({ String(cString: $0) }) {
  case "observer":
    let target = try ObserverTarget()
    execute = { target.execute($0) }
  case "attach":
    let target = try AttachTarget()
    execute = { target.execute($0) }
  default:
    print("FUZZ_TARGET: observer or attach")
    return 2
  }
  var argc = CommandLine.argc
  var argv = CommandLine.unsafeArgv
  return runDriver(&argc, &argv) { bytes, count in
    execute(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
  }
}

exit(try run())
