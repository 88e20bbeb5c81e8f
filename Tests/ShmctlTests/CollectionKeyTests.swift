import SharedTable
import TableDump
import TestSupport
import Testing

@testable import shmctl

/// Keys that belong to a collection are shown as such, and not changed by mistake.
@Suite struct CollectionKeyTests {
  /// With a dictionary 'documents', a cache 'pages' and a plain 'k'.
  private func filled() throws -> TestTable {
    let table = try TestTable()
    let handle = try table.open()
    let documents = try SharedDictionary<Int, String>("documents", in: handle)
    try documents.set(1, "one")
    try documents.set(2, "two")
    try handle.set("k", "v")
    return table
  }

  private func documents(_ table: TestTable) throws -> SharedDictionary<Int, String> {
    try SharedDictionary("documents", in: table.open())
  }

  @Test func typeAndLsShowWhatAKeyBelongsTo() throws {
    let table = try filled()
    let keys = try table.run("ls", "--sort").text.split(separator: "\n").map(String.init)
    let element = try #require(keys.first { $0.hasPrefix("documents/") })
    #expect(try table.run("type", "documents").text.hasPrefix("dictionary of "))
    #expect(try table.run("type", element).text.hasSuffix("\tin documents\n"))
    #expect(try table.run("type", "k").text == "string\n")
    let lines = try table.run("ls", "--long", "--sort").text.split(separator: "\n").map { $0.split(separator: "\t") }
    #expect(lines.allSatisfy { $0.count == 6 })
    #expect(lines.first { $0[5] == "documents" }?[4].hasPrefix("dictionary of ") == true)
    #expect(lines.first { $0[5] == element }?[4] == "in documents")
    #expect(lines.first { $0[5] == "k" }.map { [$0[0], $0[1], $0[3], $0[4]] } == ["string", "1", "-", "-"])
    let object = try #require(try table.run("ls", "--json", element).objects.first ?? nil)
    #expect(object["collection"] as? String == "documents")
    #expect(object["isHeader"] as? Bool == false)
  }

  @Test func noCommandChangesAKeyOfACollectionUnasked() throws {
    let table = try filled()
    let before = try table.run("ls", "--long", "--sort").text
    let keys = before.split(separator: "\n").compactMap { $0.split(separator: "\t").last.map(String.init) }
    for key in keys where key != "k" {
      for arguments in [
        ["del", key], ["del", "k", key], ["del", "--prefix", "docu"], ["set", key, "x"], ["mset", "k", "w", key, "x"],
        ["incr", key], ["append", key, "x"], ["getdel", key], ["rename", key, "other"], ["rename", "k", key],
        ["expire", key, "1ms"], ["persist", key], ["cas", key, "", "x"], ["edit", key],
      ] {
        let run = try CommandRun(["-t", table.name] + arguments, environment: ["EDITOR": "echo x >"])
        #expect(run.status == 10, "\(arguments): \(run.errors)")
        #expect(run.errors.contains("give --force"), "\(arguments): \(run.errors)")
      }
    }
    #expect(try table.run("ls", "--long", "--sort").text == before)
    // An element that is not there yet would be one too many.
    #expect(try table.run("set", "documents/new", "x").status == 10)
    #expect(try table.run("set", "other/new", "x").status == 0)
    #expect(try documents(table)[1] == "one")
  }

  /// Elements that only the table had would stay, uncounted.
  @Test func noLoadMixesCollectionsUnasked() throws {
    func made() throws -> TestTable {
      let table = try filled()
      try documents(table).set(4, "four")
      return table
    }
    var source = try made()
    // A dump's order is that of the keys' hashes. One record is said to have been stored by an earlier load, below: if that were the header, the
    // table's collection would be the dump's.
    while try source.run("dump", "--json").text.split(separator: "\n")[1].contains(#""key":"documents","#) {
      source = try made()
    }
    let target = try filled()
    try documents(target).set(3, "three")
    let dump = try source.run("dump").output
    let before = try target.run("ls", "--long", "--sort").text
    for arguments in [
      ["load"], ["load", "--stream"], ["load", "--resume"], ["load", "--if-absent"], ["load", "--merge"],
      ["load", "--resume", "--stream"],
    ] {
      let run = try CommandRun(["-t", target.name] + arguments, input: dump)
      #expect(run.status == 10, "\(arguments): \(run.errors)")
      let advice = "'shmctl del -t \(target.name) --force documents', or give --replace, or --force"
      #expect(run.errors.contains(advice), "\(run.errors)")
    }
    for arguments in [[], ["--if-absent"], ["--prefix", "documents/"]] {
      let run = try CommandRun(["copy", source.name, target.name] + arguments)
      #expect(run.status == 10, "\(arguments): \(run.errors)")
      #expect(run.errors.contains("0 records are copied"))
    }
    // A part of a collection in place of the whole.
    let element = try source.run("dump", "--prefix", "documents/").output
    #expect(try target.run("load", "--replace", input: element).status == 10)
    #expect(try target.run("ls", "--long", "--sort").text == before)
    #expect(try target.run("check").status == 0)

    // Behind what an earlier load has stored, too.
    #expect(try target.run("load", "--skip", "1", input: dump).status == 10)
    #expect(try target.run("load", "--stream", "--skip", "1", input: dump).status == 10)
    var rest = dump[...]
    let reader = try DumpReader(longestValue: 1000) { piece in
      let count = min(piece.count, rest.count)
      piece.replaceSubrange(..<count, with: rest.prefix(count))
      rest = rest.dropFirst(count)
      return count
    }
    let note = try LoadNote(of: reader.header)
    try target.open().barrier { tx in try note.set(1, in: &tx) }
    #expect(try target.run("load", "--resume", input: dump).status == 10)
    #expect(try target.run("load", "--resume", "--stream", input: dump).status == 10)
    try note.remove(from: target.open())
    #expect(try target.run("ls", "--long", "--sort").text == before)

    // A plain value under the name keeps the header out, and its elements would come without it.
    let other = try TestTable()
    try other.open().set("documents", "mine")
    #expect(try other.run("load", "--if-absent", input: dump).status == 10)
    #expect(try other.open().count == 1)

    // What changes nothing that is there, or brings a collection that is not there, is no mixing.
    #expect(try target.run("load", "--if-absent", input: target.run("dump").output).status == 0)
    #expect(try target.run("load", "--replace", input: source.run("dump", "--prefix", "documents").output).status == 0)
    #expect(try documents(target).keys().sorted() == [1, 2, 4])
    #expect(try target.run("del", "--force", "documents").status == 0)
    for arguments in [["load"], ["load", "--stream"]] {
      let other = try TestTable()
      #expect(try other.run(arguments, input: dump).status == 0)
      #expect(try documents(other).keys().sorted() == [1, 2, 4])
    }
    #expect(try target.run("load", input: source.run("dump", "--prefix", "documents").output).status == 0)
    #expect(try documents(target).keys().sorted() == [1, 2, 4])
    #expect(try target.run("load", "--force", input: dump).status == 0)
  }

  @Test func noLineChangesAKeyOfACollectionUnasked() throws {
    let table = try filled()
    let before = try table.run("ls", "--long", "--sort").text
    let keys = before.split(separator: "\n").compactMap { $0.split(separator: "\t").last.map(String.init) }
    for key in keys where key != "k" {
      let word = String(decoding: WordLine.escaped(Array(key.utf8)), as: UTF8.self)
      for line in [
        "set \(word) x", "del \(word)", "incr \(word)", "append \(word) x", "expire \(word) 1ms", "persist \(word)",
        "rename \(word) other", "rename k \(word)",
      ] {
        let input = Array("check k present\n\(line)\n".utf8)
        for command in ["batch", "transaction"] {
          let run = try table.run(command, input: input)
          #expect(run.status == 10, "\(command) \(line): \(run.errors)")
          #expect(run.errors.contains("line 2: key '\(key)'") && run.errors.contains("give --force"), "\(run.errors)")
        }
      }
    }
    // A look changes nothing.
    #expect(try table.run("batch", input: Array("check documents present\n".utf8)).status == 0)
    #expect(try table.run("ls", "--long", "--sort").text == before)
    #expect(try documents(table)[1] == "one")
    for command in ["batch", "transaction"] {
      #expect(try table.run(command, "--force", input: Array("set documents x\n".utf8)).status == 0)
    }
  }

  @Test func noImportChangesAKeyOfACollectionUnasked() throws {
    func commands(_ keys: [[UInt8]]) -> [UInt8] {
      keys.flatMap { Array("*3\r\n$3\r\nSET\r\n$\($0.count)\r\n".utf8) + $0 + Array("\r\n$1\r\nx\r\n".utf8) }
    }
    let table = try filled()
    let before = try table.run("ls", "--long", "--sort").text
    let (plain, new) = (Array("k".utf8), Array("documents/new".utf8))
    for key in try table.open().read({ view in try view.keys() }) where key != plain {
      let run = try table.run("import", "resp", input: commands([plain, key]))
      #expect(run.status == 10 && run.errors.contains("give --force"), "\(key): \(run.errors)")
      // One that is left as it is does no harm.
      #expect(try table.run("import", "resp", "--if-absent", input: commands([key])).status == 0)
    }
    // An element that is not there yet would be one too many.
    for options in [[], ["--if-absent"]] {
      let run = try table.run(["import", "resp"] + options, input: commands([plain, new]))
      #expect(run.status == 10, "\(options): \(run.errors)")
    }
    #expect(try table.run("ls", "--long", "--sort").text == before)
    #expect(try documents(table)[1] == "one")
    #expect(try table.run("import", "resp", "--force", input: commands([new])).status == 0)
  }

  @Test func aCollectionThatIsDeletedByForceGoesAsAWhole() throws {
    let table = try filled()
    #expect(try table.run("del", "--force", "documents").status == 0)
    #expect(try table.run("ls", "--sort").text == "k\n")
    try documents(table).set(1, "new")
    #expect(try documents(table).count == 1)
  }

  /// It lists the keys in a section, and removes them in barriers: here one comes in between.
  @Test func whatIsAddedWhileACollectionIsDeletedByItsPrefixGoesToo() throws {
    let table = try filled()
    let handle = try table.open()
    let documents = try documents(table)
    let command = try handle.barrier { (tx: inout Transaction) throws in
      let command = try WorkerProcess(
        CommandRun.path, ["-t", table.name, "del", "--prefix", "doc", "--yes", "--force"], timeoutSeconds: 100)
      let isWaiting = eventually { handle.statistics.readers.contains { $0.wait == .barrier } }
      #expect(isWaiting)
      try documents.set(99, "late", in: &tx)
      return command
    }
    #expect(try command.wait() == .code(0))
    #expect(try table.run("ls", "--sort").text == "k\n")
  }

  @Test func cachesAreCollectionsToo() throws {
    let table = try TestTable()
    let handle = try table.open()
    let cache = try SharedCache<String, Int>("pages", in: handle, limit: .entries(10))
    try cache.set("a", 1)
    #expect(try table.run("type", "pages").text == "cache\n")
    for key in try handle.read({ view in try view.keys() }) {
      #expect(try table.run("del", String(decoding: key, as: UTF8.self)).status == 10)
    }
    #expect(try table.run("del", "--force", "pages").status == 0)
    #expect(handle.count == 0)
  }
}
