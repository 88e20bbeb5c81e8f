import Glibc

/// Nanoseconds of the monotonic clock.
func now() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func answer(_ line: String) {
  print(line)
  fflush(nil)
}

func complain(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}

/// A program that was built beside this one.
func sibling(_ name: String) throws -> String {
  var path = [CChar](repeating: 0, count: Int(PATH_MAX))
  let length = unsafe readlink("/proc/self/exe", &path, path.count)
  guard length > 0 else { throw Trouble("/proc/self/exe: error \(errno)") }
  let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  let program = "\(own[...(own.lastIndex(of: "/") ?? own.startIndex)])\(name)"
  guard unsafe access(program, X_OK) == 0 else { throw Trouble("\(program) is not there; run it by: make demo") }
  return program
}

/// Whether this process has started any that still runs, or that nobody has waited for.
func hasChildren() -> Bool { waitpid(-1, nil, WNOHANG) >= 0 || errno != ECHILD }

func makePrivateDirectory() throws -> String {
  var template = Array("/tmp/shm-demo.XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { throw Trouble("no private directory in /tmp: error \(errno)") }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func removeDirectory(_ path: String, files: [String]) {
  for file in files { unsafe unlink("\(path)/\(file)") }
  unsafe rmdir(path)
}

func contents(of path: String) throws -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw Trouble("\(path): error \(errno); the demo needs Debian's package database") }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = unsafe read(descriptor, &chunk, chunk.count)
    guard count > 0 else { return bytes }
    bytes += chunk[..<count]
  }
}

func write(_ text: String, to path: String) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw Trouble("\(path): error \(errno)") }
  defer { close(descriptor) }
  let bytes = Array(text.utf8)
  guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else { throw Trouble("\(path): error \(errno)") }
}

/// Ctrl-C ends whatever we wait for with an error, so that everything is cleared up; without SA_RESTART on purpose.
/// A child that is gone is noticed by its answers, not by SIGPIPE.
func endWaitsOnInterrupt() {
  for signal in [SIGINT, SIGTERM, SIGHUP] {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    unsafe sigaction(signal, &action, nil)
  }
  var ignore = sigaction()
  unsafe ignore.__sigaction_handler.sa_handler = SIG_IGN
  unsafe sigaction(SIGPIPE, &ignore, nil)
}
