import Glibc

/// Writes a line to standard output at once: who reads it may be waiting, and we may be killed next.
func say(_ line: String) { write(line, to: STDOUT_FILENO) }

func complain(_ line: String) { write(line, to: STDERR_FILENO) }

private func write(_ line: String, to descriptor: Int32) {
  var bytes = Array((line + "\n").utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { return }
    bytes = bytes.dropFirst(count)
  }
}
