import CTrace
import Glibc
import SharedMemory
import SharedTable
import TableEngine

/// The worker that judges images: `image-checker`. It reads one line a job and forks for each, so that every image is
/// recovered by a fresh process, and nothing that a job maps or locks remains. It has one thread.
///
/// The jobs, each answered by `ok` or by what is wrong:
/// - `table IMAGE VERSION CONTENTS...`: of a table during an operation that began at a version: what it held then, and what it
///   holds after each of the operation's commits.
/// - `collections IMAGE VERSION CONTENTS...`: the same, of what the typed API finds in it.
/// - `made IMAGE VARIANT`: of a table that is being made.
/// - `repaired IMAGE CONTENTS`: of one that is being repaired.
/// - `regrown IMAGE CONTENTS`: of one that is being repaired, and of which observers cannot see all before.
/// - `dropped IMAGE CONTENTS`: of one that is being dropped.
let serveImageChecker: @Sendable ([String]) throws -> Void = { _ in
  while let line = readLine() {
    let child = ct_fork()
    if child == 0 {
      alarm(30)
      do {
        try judge(line.split(separator: " "))
        _exit(0)
      } catch {
        say("\(error)".split(separator: "\n").joined(separator: " "))
        _exit(1)
      }
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    // By SIGALRM: it hung. `ok` when the child and its threads are gone: the next image is written over this one.
    if status & 0x7f != 0 { say("its checker was ended by signal \(status & 0x7f)") }
    if status == 0 { say("ok") }
  }
}

private func judge(_ words: [Substring]) throws {
  let image = String(words[1])
  switch words[0] {
  case "table", "collections":
    let stages = words[3...].compactMap { Contents($0) }
    guard let version = UInt64(words[2]), stages.count == words.count - 3 else {
      throw Wrong("a job that cannot be read")
    }
    var judge = try ImageJudge(image, Judged(rawValue: String(words[0]))!, version: version, stages)
    try judge.run()
  case "made":
    try judgeMade(image, words[2] == "rcu" ? .rcu : .rwlock)
  case "repaired":
    try judgeRepaired(image, Contents(words[2])!)
  case "repaired-but-for-a-part":
    try judgeRepaired(image, Contents(words[2])!, mayLose: "parts of the index")
  case "regrown":
    try judgeRegrown(image, Contents(words[2])!)
  case "dropped":
    try judgeDropped(image, Contents(words[2])!)
  default:
    throw Wrong("no such job: \(words[0])")
  }
}

/// An image of a table: before its recovery and after it readers find one version, whole, and so is all that carries it.
private struct ImageJudge {
  let image: String
  let judged: Judged
  var expected: Contents
  let isWriting: Bool

  init(_ image: String, _ judged: Judged, version: UInt64, _ stages: [Contents]) throws {
    self.image = image
    self.judged = judged
    // Raw, before anybody recovers anything.
    let object = try SharedObject.open(name: "shmtable.\(image).data", writable: false)
    let page = try object.map(count: 4096, writable: false)
    let (committed, sequence) = page.withBase { base in
      (
        base.load(fromByteOffset: DataLayout.committed, as: UInt64.self),
        base.load(fromByteOffset: DataLayout.wseq, as: UInt64.self)
      )
    }
    expected = stages.reached(committed, since: version)
    isWriting = sequence & 1 != 0
  }

  mutating func run() throws {
    try observe()
    let table = try Table.open(image, access: .participant, timeout: .seconds(10))
    // Reads wait for no writer, dead or alive (G5); in the rwlock variant they recover.
    if table.variant == .rcu { try expect(try judged.contents(of: table), "before its recovery") }
    try expectSound(table, "after its recovery")
    try expect(try judged.contents(of: table), "after its recovery")
    expected = try judged.goOn(table)
    try expectSound(table, "when it had gone on")
    try expect(try judged.contents(of: table), "when it had gone on")
    try observe(isRepaired: true)
  }

  /// Who may only read sees one version, or in the rwlock variant is told that a barrier runs.
  private func observe(isRepaired: Bool = false) throws {
    let observer = try Table.open(image, access: .observer, timeout: .milliseconds(1))
    do {
      try expect(try judged.contents(of: observer), "for an observer")
    } catch {
      let isBusy = (error as? TableError)?.code == .busy
      guard isBusy, observer.variant == .rwlock, isWriting, !isRepaired else { throw Wrong("\(error)") }
    }
  }

  private func expect(_ contents: Contents, _ when: String) throws {
    guard contents != expected else { return }
    throw Wrong("it holds \(contents) instead of \(expected) \(when)")
  }

  private func expectSound(_ table: Table, _ when: String) throws {
    let problems = try judged.problems(of: table)
    if let first = problems.first { throw Wrong("\(first) (\(problems.count) problems \(when))") }
  }
}

/// An image of a table that is being made can be opened, or else made, and then works.
private func judgeMade(_ image: String, _ variant: Table.Variant) throws {
  try expectWorking(try openOrCreate(image, variant), isEmpty: true)
  try Table.drop(image)
}

/// An image of a table that is being repaired can be opened and repaired, and loses nothing; readers see all of it before.
/// - Parameter loss: what the table has lost before, in the words of the report.
private func judgeRepaired(_ image: String, _ contents: Contents, mayLose loss: String? = nil) throws {
  let observer = try Table.open(image, access: .observer, timeout: .milliseconds(1))
  if observer.variant == .rcu, try Contents(of: observer) != contents {
    throw Wrong("an observer sees something else")
  }
  let table = try Table.open(image, access: .participant, timeout: .seconds(10))
  let report = try table.repair(timeout: .seconds(10))
  let isExpected = report.losses.allSatisfy { found in loss.map(found.contains) ?? false }
  guard isExpected, try Contents(of: table) == contents else {
    throw Wrong("its repair changed its contents")
  }
  try expectWorking(table, isEmpty: false)
}

/// As ``judgeRepaired(_:_:)``, of a table that had lost count of its units: observers find what lies in them once the repair has ended.
private func judgeRegrown(_ image: String, _ contents: Contents) throws {
  let table = try Table.open(image, access: .participant, timeout: .seconds(10))
  let report = try table.repair(timeout: .seconds(10))
  guard report.losses.isEmpty else { throw Wrong("its repair lost \(report.losses)") }
  let filler = try Table.open(image, access: .observer).get(regrownFiller, as: [UInt8].self)
  guard filler?.count == 2 * Geometry.unitBytes else { throw Wrong("its repair lost what lies in further units") }
  try table.remove(regrownFiller)
  guard try Contents(of: table) == contents else { throw Wrong("its repair changed its contents") }
  try expectWorking(table, isEmpty: false)
}

/// An image of a table that is being dropped can be opened, and then is whole, or else be made.
private func judgeDropped(_ image: String, _ contents: Contents) throws {
  var wasThere = true
  let table = try openOrCreate(image, .rcu) { wasThere = false }
  if wasThere, try Contents(of: table) != contents { throw Wrong("its contents changed") }
  try expectWorking(table, isEmpty: !wasThere)
  try Table.drop(image)
}

private func openOrCreate(
  _ image: String, _ variant: Table.Variant, _ notThere: () -> Void = {}
) throws -> Table {
  do {
    return try Table.open(image, access: .participant, timeout: .seconds(2))
  } catch {
    guard [.noSuchTable, .notATable].contains(error.code) else { throw Wrong("\(error)") }
    notThere()
    return try Table.create(image, Scene.options(variant))
  }
}

private func expectWorking(_ table: Table, isEmpty: Bool) throws {
  if let first = try table.check(timeout: .seconds(10)).first { throw Wrong(first) }
  try table.set("one", "value")
  guard try table.get("one", as: String.self) == "value", !isEmpty || table.count == 1 else {
    throw Wrong("it does not work")
  }
  if let first = try table.check(timeout: .seconds(10)).first { throw Wrong(first) }
}
