import Glibc

/// On what and when the figures were taken.
func provenance(rounds: Int) throws -> String {
  var seconds = time(nil)
  var calendar = tm()
  gmtime_r(&seconds, &calendar)
  var system = utsname()
  uname(&system)
  let release = withUnsafeBytes(of: system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  let date = [calendar.tm_mon + 1, calendar.tm_mday].reduce("\(1900 + calendar.tm_year)") {
    "\($0)-\($1 < 10 ? "0" : "")\($1)"
  }
  let model = try lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
  let processor = model?.split(separator: ":").last.map(\.trimmed) ?? "unknown"
  return
    "Run of \(date): \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors (\(processor)), "
    + "Linux \(release.split(separator: "-").first ?? ""). Medians of \(rounds) rounds, all contestants in turns; "
    + "in each round a contestant does the same work on the same keys.\n"
}
