import Dispatch
import Glibc
import SharedTable
import TableEngine
import TestSupport

/// A thread of this process begins to make a table and comes to no end. Beside it the process forks a child, which lives until its input ends.
func forkBesideCreation(_ name: String) -> String {
  let isHalfMade = DispatchSemaphore(value: 0)
  let creation = TestThread {
    _ = try Segment.create(
      name, SegmentOptions(capacityBytes: 2 << 20),
      load: TableLoad(base: 1) { _ in
        isHalfMade.signal()
        while true { pause() }
      })
  }
  return withExtendedLifetime(creation) {
    isHalfMade.wait()
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    var byte: UInt8 = 0
    if cFork() == 0 {
      // The parent must not be killed before the child is out of fork.
      write(ends[1], &byte, 1)
      while read(0, &byte, 1) > 0 {}
      _exit(0)
    }
    guard read(ends[0], &byte, 1) == 1 else { return "no child" }
    say("forked")
    while true { pause() }
  }
}

/// Commands of forks inside reads, which a program should not do and may.
func forkReadAnswer(_ words: [String]) throws -> String {
  switch words[0] {
  case "read-fork-section": return try forkInSection(key: words[1])
  case "read-fork-decoding": return try forkInInitialiser(key: words[1])
  default: return "unknown command \(words[0])"
  }
}

/// What each kind of look says in a child that was forked in the section, and what the parent goes on to read.
private func forkInSection(key: String) throws -> String {
  let dictionary = try SharedDictionary<String, Int>("dictionary", in: table)
  return try table.read { view in
    let pipe = AnswerPipe()
    let child = cFork()
    if child == 0 {
      let looks = [
        outcome { "\(try view.get(key, as: Int.self) ?? 0)" },
        outcome { "\(try view.bytes(forKey: key)?.byteCount ?? 0)" },
        outcome { "\(try view.contains(key))" },
        outcome { "\(try view.entry(forKey: key) != nil)" },
        outcome { "\(try view.count())" },
        outcome { "\(try dictionary.get("one", in: view) ?? 0)" },
      ]
      pipe.answer(Set(looks).joined(separator: ", "))
    }
    return "child \(pipe.answer(of: child) ?? "died"), parent \(try view.get(key, as: Int.self) ?? 0)"
  }
}

/// A value whose initialiser forks. The child's read ends; then the parent says "in", and compares the bytes that it is shown once it is told
/// to go on.
private struct ForkingValue: TableValue {
  let isSame: Bool

  static var tableType: ValueType { .bytes }

  init?(tableBytes: UnsafeRawBufferPointer) {
    let before = [UInt8](tableBytes)
    let child = cFork()
    isSame = child == 0 || Self.staysSame(tableBytes, before, child)
  }

  private static func staysSame(_ bytes: UnsafeRawBufferPointer, _ before: [UInt8], _ child: pid_t) -> Bool {
    while waitpid(child, nil, 0) < 0 && errno == EINTR {}
    say("in")
    _ = nextCommand()
    return bytes.elementsEqual(before)
  }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

private func forkInInitialiser(key: String) throws -> String {
  let process = getpid()
  // A thread's first read is a section, whose end in a child is another matter.
  _ = try table.contains(key)
  let value = try table.get(key, as: ForkingValue.self)
  if getpid() != process { _exit(0) }
  return value?.isSame == true ? "same" : "changed"
}
