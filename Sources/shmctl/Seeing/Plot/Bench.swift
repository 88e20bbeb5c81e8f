import ArgumentParser
import SharedTable
import ToolSupport

struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure this host: get, set and a barrier of 100 sets, in tables of its own.",
    discussion: """
      Makes a temporary table of each variant, which has no name and is gone with the command, with 10,000 keys of 12 bytes \
      and values of 64. Prints median and 99th percentile in nanoseconds; the time of the clock itself is taken off. Takes \
      about two seconds. One process alone: waits for others are not measured.
      """)

  @OptionGroup var options: CommonOptions

  func validate() throws { try options.refuseTable(for: "bench") }

  private static let milliseconds: UInt64 = 300
  private static let keyCount = 10_000

  func run() throws {
    let keys = (0..<Self.keyCount).map { Array("key-\(10_000_000 + $0)".utf8) }
    let value = [UInt8](repeating: 0x76, count: 64)
    var columns = Columns([
      ("VARIANT", .left), ("OPERATION", .left), ("P50 NS", .right), ("P99 NS", .right), ("MEASURED", .right),
    ])
    #if DEBUG
      StandardError.write("warning: this is a debug build, some ten times slower; build it with -c release")
    #endif
    for (variant, name) in [(Table.Variant.rcu, "rcu"), (.rwlock, "rwlock")] {
      let table = try Table.temporary(variant: variant, capacityBytes: 16 << 20)
      for key in keys { try table.set(key, value) }
      let results = [
        ("get", try BenchRun.gets(table, keys, milliseconds: Self.milliseconds)),
        ("set", try BenchRun.sets(table, keys, value, milliseconds: Self.milliseconds)),
        ("barrier of 100", try BenchRun.barriers(table, keys, value, milliseconds: Self.milliseconds)),
      ]
      for (operation, sample) in results {
        let (median, tail) = (sample.percentile(50) ?? 0, sample.percentile(99) ?? 0)
        if options.json {
          var object = JSONObject()
          object.add("variant", name)
          object.add("operation", operation)
          object.add("p50Nanoseconds", median)
          object.add("p99Nanoseconds", tail)
          object.add("measured", sample.operationCount)
          try StandardOutput.write(object.line)
        } else {
          columns.add([name, operation, "\(median)", "\(tail)", "\(sample.operationCount)"])
        }
      }
    }
    if !options.json { try StandardOutput.write(Array(columns.text.utf8)) }
  }
}
