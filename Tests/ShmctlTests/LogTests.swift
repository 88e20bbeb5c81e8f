import Foundation
import Glibc
import SharedTable
import Synchronization
import TestSupport
import Testing

@Suite struct LogTests {
  @Test func theLastChangesAreListedWithTheirSizes() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("a", "1")
    try handle.set("b", "hello")
    try handle.set("a", "22")
    try handle.remove("b")
    let lines = try table.run("log").text.split(separator: "\n").map { $0.split(separator: " ").dropFirst() }
    #expect(lines == [["set", "-", "a"], ["set", "-", "b"], ["set", "2", "a"], ["remove", "-", "b"]])
    let objects = try table.run("log", "-n", "2", "--json").objects
    try #require(objects.count == 2)
    #expect(objects[0]?["valueBytes"] as? Int == 2 && objects[0]?["operation"] as? String == "set")
    #expect(objects[1]?["operation"] as? String == "remove" && objects[1]?["version"] as? UInt64 == handle.version)
    #expect(try table.run("log", "-n", "\(Int.max)").text.split(separator: "\n").count == 4)
    #expect(try table.run("log", "b").text.split(separator: "\n").count == 2)
    let version = try #require(objects[0]?["version"] as? UInt64)
    #expect(try table.run("log", "--from", "\(version)").text.split(separator: "\n").count == 1)
  }

  @Test func whatTheLogLostIsSaidToWhoAskedForIt() throws {
    let table = try TestTable()
    let handle = try table.open()
    let key = String(repeating: "k", count: 30_000)
    for value in 0..<30 { try handle.set(key + "\(value)", value) }
    let first = try table.run("log", "--from", "0", "--json").objects.first ?? nil
    #expect(first?["operation"] as? String == "missed" && (first?["count"] as? Int ?? 0) > 10)
    #expect(try table.run("log", "-n", "3").text.split(separator: "\n").count == 3)
    #expect(try table.run("log", "--from", "99999").status == 2)
    #expect(try table.run("log", "--from", "1", "-n", "3").errors.contains("leave -n out"))
  }

  @Test func keysOfAnyBytesStayOnALine() throws {
    let table = try TestTable()
    try table.open().set([0x1b, 0x0a, 0xff] as [UInt8], "v")
    try table.open().set("tab\there", "v")
    let lines = try table.run("log").text.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasSuffix(#"  \x1b\x0a\xff"#) && lines[1].hasSuffix(#"  tab\x09here"#))
    let object = try table.run("log", "--json").objects.first ?? nil
    #expect(object?["keyBase64"] as? String == "Gwr/")
  }

  @Test func followGoesOnWithNewChanges() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("before", "v")
    let follower = try WorkerProcess(CommandRun.path, ["-t", table.name, "log", "--follow"], timeoutSeconds: 100)
    #expect(try follower.readLine().hasSuffix("before"))
    try handle.set("after", "v")
    #expect(try follower.readLine().hasSuffix("after"))
    try handle.remove("after")
    #expect(try follower.readLine().contains("remove"))
    // With the table it ends, and says so.
    #expect(try CommandRun(["drop", table.name]).status == 0)
    #expect(try follower.wait() == .code(3))
  }

  /// It keeps no more changes than it may have to print, and drops the older ones on the way, some at a time.
  @Test func theLastLinesOfALongLogAreItsLast() throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<3_000 { try handle.set("\(index)", 1) }
    func keys(_ arguments: String...) throws -> [Int] {
      try table.run(["log"] + arguments).text.split(separator: "\n").map { Int($0.split(separator: " ").last!) ?? -1 }
    }
    #expect(try keys() == Array(2_980..<3_000))
    for count in [1, 700] { #expect(try keys("-n", "\(count)") == Array(3_000 - count..<3_000)) }
    #expect(try keys("-n", "0") == Array(0..<3_000))
  }

  /// One who follows prints what came at once a part at a time, so that a long log costs no memory: each change once.
  @Test func whatCameAtOnceIsFollowedChangeByChange() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("before", 1)
    let follower = try WorkerProcess(CommandRun.path, ["-t", table.name, "log", "--follow"], timeoutSeconds: 100)
    #expect(try follower.readLine().hasSuffix("before"))
    // Lines of three times as many bytes as are printed at once.
    let count = 6_000
    try handle.barrier { tx in for index in 0..<count { try tx.set("\(index)", 1) } }
    for index in 0..<count {
      let line = try follower.readLine()
      try #require(line.hasSuffix("  \(index)"), "\(line)")
    }
    try handle.set("after", 1)
    #expect(try follower.readLine().hasSuffix("after"))
  }

  /// The command looks through the log up to the version that it found at first. What it has read beyond is the first that one who follows
  /// is shown.
  @Test func besideAWriterThatNeverPausesNothingIsLeftOut() throws {
    let table = try TestTable()
    let handle = try table.open()
    let isOver = Atomic(false)
    try handle.set("0", 0)
    let writer = TestThread {
      var number = 0
      while !isOver.load(ordering: .relaxed) {
        number = (number + 1) % 1000
        try handle.set("\(number)", 0)
      }
    }
    defer { isOver.store(true, ordering: .relaxed) }
    // Not each of them has the writer go on just between its looks at the version and at the log.
    for _ in 0..<10 {
      let follower = try WorkerProcess(CommandRun.path, ["-t", table.name, "log", "-f"], timeoutSeconds: 100)
      var next: Int?
      for _ in 0..<200 {
        let words = try follower.readLine().split(separator: " ")
        let number = try #require(Int(words.last!))
        if words[0] == "missed" {
          next = next.map { ($0 + number) % 1000 }
        } else {
          try #require(next == nil || next == number)
          next = (number + 1) % 1000
        }
      }
    }
    isOver.store(true, ordering: .relaxed)
    try writer.join()
  }
}
