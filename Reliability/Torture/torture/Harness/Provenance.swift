import Glibc

/// Where and when figures were taken, for the report.
func provenance(_ run: Run) -> String {
  var seconds = time(nil)
  var calendar = tm()
  gmtime_r(&seconds, &calendar)
  var system = utsname()
  uname(&system)
  let release = withUnsafeBytes(of: system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  let machine = withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  let date = [calendar.tm_mon + 1, calendar.tm_mday].reduce("\(1900 + calendar.tm_year)") {
    "\($0)-\($1 < 10 ? "0" : "")\($1)"
  }
  let kernel = release.split(separator: "-").first ?? ""
  return
    "\(run.isLong ? "Long" : "Bounded") run of \(date), seed \(run.seed); \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors, "
    + "\(machine), Linux \(kernel)."
}
