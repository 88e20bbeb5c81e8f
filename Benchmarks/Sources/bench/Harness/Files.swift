import Glibc

/// A text file, line by line.
func lines(of path: String) throws -> [String] {
  guard let file = fopen(path, "re") else { throw Failure("cannot read \(path): \(String(cString: strerror(errno)))") }
  defer { fclose(file) }
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  defer { free(line) }
  var lines: [String] = []
  while getline(&line, &capacity, file) >= 0 { lines.append(String(cString: line!)) }
  return lines
}

func writeFile(_ path: String, _ text: String) throws {
  guard let file = fopen(path, "we") else { throw Failure("cannot write \(path): \(String(cString: strerror(errno)))") }
  defer { fclose(file) }
  guard fputs(text, file) >= 0 else { throw Failure("cannot write \(path)") }
}

/// A line on standard error.
func say(_ text: String) {
  let bytes = Array((text + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
