import Glibc
import TestSupport

/// Runs libFuzzer over one of the targets in Reliability/Fuzz, from the corpus in the repository.
///
/// The fuzzer is a build of its own (Reliability/Fuzz/run.sh), which the environment names. `make verify` runs it in a phase of its
/// own, so that without it the bounded form has nothing to do.
func fuzz(_ run: Run, _ target: String, executions: Int) throws {
  guard let fuzzer = getenv("SHAREDTABLE_FUZZER").map({ String(cString: $0) }) else {
    if run.isLong { throw Unavailable("SHAREDTABLE_FUZZER names no fuzzer") }
    return say("  (left to make fuzz-bounded)")
  }
  let corpus = "Reliability/Fuzz/corpus/\(target)"
  guard access(corpus, R_OK) == 0 else { throw Unavailable("there is no \(corpus) here") }
  try withTemporaryDirectory { directory in
    let (exit, _, log) = try WorkerProcess.run(
      fuzzer,
      [
        run.isLong ? "-runs=\(executions)" : "-max_total_time=10", "-seed=\(run.seed & 0x7fff_ffff)", "-max_len=130",
        // Of the clock, not of the processor: the slowest takes tenths of a second, on a quiet machine.
        "-timeout=100", "-report_slow_units=100", "-rss_limit_mb=4096", "-print_final_stats=1",
        "-artifact_prefix=\(target)-", directory, corpus,
      ], environment: ["FUZZ_TARGET": target], timeoutSeconds: run.isLong ? 6 * 3600 : 300)
    let lines = log.split(separator: "\n")
    try run.expect(exit == .code(0), "the fuzzer ended with \(exit): \(lines.suffix(12).joined(separator: "\n    "))")
    run.row(
      "\(target), libFuzzer", figure(after: "stat::number_of_executed_units:", lines), "–",
      "\(figure(after: "cov:", lines)) of \(figure(after: "modules   (", lines))",
      figure(after: "stat::average_exec_per_sec:", lines))
  }
}

/// The number behind the last mention of `label`.
private func figure(after label: String, _ lines: [Substring]) -> String {
  for line in lines.reversed() {
    guard let start = line.firstRange(of: label)?.upperBound else { continue }
    let digits = line[start...].drop { $0 == " " }.prefix { $0.isNumber }
    if let number = Int(digits) { return grouped(number) }
  }
  return "?"
}

/// 1234567 as 1,234,567.
func grouped(_ number: Int) -> String {
  let digits = Array(String(number))
  return String(
    digits.enumerated().flatMap { index, digit in
      index > 0 && (digits.count - index) % 3 == 0 ? [",", digit] : [digit]
    })
}
