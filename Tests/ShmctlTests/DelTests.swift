import SharedTable
import TableTestSupport
import TestSupport
import Testing

@Suite struct DelTests {
  /// A full table has room for the removals of some keys only. Those of one barrier would need more.
  @Test(arguments: Table.Variant.allCases, ["-", "--prefix"]) func aFullTableCanBeEmptied(
    _ variant: Table.Variant, _ way: String
  ) throws {
    let table = try TestTable(Table.Options(variant: variant, capacityBytes: 2 << 20))
    let handle = try table.open()
    // Of input as many as 64 KiB hold are removed together, of a prefix a thousand.
    let padding = String(repeating: "p", count: way == "-" ? 4 : 100)
    var count = 0
    while error({ try handle.set("\(padding)\(count)", count) }) == nil { count += 1 }
    #expect(count > 2000)
    let run =
      way == "-"
      ? try table.run("del", "-", input: Array((0..<count).map { "\(padding)\($0)\n" }.joined().utf8))
      : try table.run("del", "--prefix", "p", "--yes")
    #expect(run.status == 0, "\(run.errors)")
    #expect(handle.count == 0)
    #expect(try handle.check() == [])
  }

  /// Those of the command line are removed together or not at all.
  @Test func manyKeysOfTheCommandLineAreOneBarrier() throws {
    let table = try TestTable()
    let handle = try table.open()
    for key in 0..<100 { try handle.set("k\(key)", key) }
    let version = handle.version
    #expect(try table.run(["del"] + (0..<100).map { "k\($0)" }).status == 0)
    #expect(handle.version == version + 1 && handle.count == 0)
  }
}
