import Foundation
import FoundationXML
import Glibc
import SharedTable
import Testing

@testable import shmctl

@Suite struct PlotTests {
  private func isWellFormed(_ svg: String) -> Bool {
    let parser = XMLParser(data: Data(svg.utf8))
    return parser.parse()
  }

  // MARK: - Charts

  @Test func fillIsDrawnToTheScale() {
    let chart = FillChart(title: "t", percent: [0, 25, 50, 75, 100], seconds: 10)
    let lines = chart.text(width: 20, height: 6)
    #expect(lines.count == 6 && lines[0] == "t")
    #expect(lines[1] == "  100%|    █" && lines[4] == "    0%| ████")
    #expect(lines[2] == "      |   ██" && lines[3] == "      |  ███")
    #expect(lines[5] == "       0 10 s")
    #expect(FillChart(title: "t", percent: [3], seconds: 1).scale == 5)
    #expect(FillChart(title: "t", percent: [0, 0], seconds: 0.5).text(width: 20, height: 5)[1] == "  0.1%|  ")
  }

  @Test func aChartFitsIntoAnySize() {
    let fill = FillChart(
      title: String(repeating: "t", count: 300), percent: (0..<1000).map { Double($0) / 20 }, seconds: 3.25)
    let latency = LatencyChart(title: "t", sample: LatencySample((0..<3000).map { $0 * $0 * 37 }))
    for (width, height) in [(20, 5), (40, 10), (80, 24), (200, 50)] {
      for lines in [fill.text(width: width, height: height), latency.text(width: width, height: height)] {
        #expect(lines.count <= height && lines.allSatisfy { $0.count <= width }, "\(width)×\(height): \(lines)")
      }
    }
  }

  @Test func aFileThatCannotBeMadeIsSaidBeforeTheLook() throws {
    // Without a key there is nothing to look at, which is found out afterwards.
    let run = try TestTable().run("plot", "latency", "--svg", "/none/picture.svg")
    #expect(run.status == 11 && run.errors.contains("'/none/picture.svg'"), "\(run.errors)")
  }

  @Test func percentilesAreThoseOfTheSample() {
    let sample = LatencySample((1...1000).reversed())
    #expect(sample.percentile(50) == 500 && sample.percentile(99) == 990 && sample.percentile(100) == 1000)
    #expect(LatencySample([7]).percentile(1) == 7 && LatencySample([]).percentile(50) == nil)
  }

  @Test func aSampleLastsAsLongAsItIsAskedTo() {
    let begin = LatencySample.now
    var calls = 0
    let sample = LatencySample.measure(milliseconds: 300, atMost: 1000) { calls += 1 }
    #expect(LatencySample.now - begin >= 300_000_000)
    #expect(calls > 1000 && (400...1000).contains(sample.nanoseconds.count), "\(calls) \(sample.nanoseconds.count)")
  }

  @Test func theHistogramCountsEachOnceInBarsWithoutGaps() {
    let sample = LatencySample([0, 1, 2, 3, 5, 6, 7, 100, 1000])
    let bars = sample.histogram
    #expect(bars.reduce(0) { $0 + $1.count } == 9)
    #expect(zip(bars, bars.dropFirst()).allSatisfy { $0.below == $1.from })
    for bar in bars { #expect(sample.nanoseconds.count { $0 >= bar.from && $0 < bar.below } == bar.count) }
    #expect(bars.first?.from == 0 && bars.last.map { $0.from <= 1000 && $0.below > 1000 } == true)
  }

  @Test func picturesAreWellFormed() {
    let title = #"a <b> & "c" "# + "\u{1b}"
    #expect(isWellFormed(FillChart(title: title, percent: [1, 2, 3], seconds: 1).svg))
    #expect(isWellFormed(LatencyChart(title: title, sample: LatencySample([1, 2, 3000])).svg))
    #expect(isWellFormed(FillChart(title: "", percent: [], seconds: 0).svg))
    #expect(isWellFormed(LatencyChart(title: "", sample: LatencySample([])).svg))
    #expect(!isWellFormed("<svg>&</svg>"))
  }

  // MARK: - Commands

  @Test func fillAndLatencyAreDrawnOfATable() throws {
    let table = try TestTable()
    let handle = try table.open()
    for index in 0..<100 { try handle.set("k\(index)", String(repeating: "v", count: 10_000)) }
    let fill = try table.run("plot", "fill", "--over", "100ms", "--every", "10ms")
    #expect(fill.status == 0 && fill.text.split(separator: "\n").count == 24)
    #expect(fill.text.contains("capacity in use, of 4MiB") && fill.text.contains("█"))
    let latency = try table.run("plot", "latency", "--over", "100ms")
    #expect(latency.status == 0 && latency.text.contains("get, of 100 keys") && latency.text.contains(" p99 "))
    #expect(try handle.version == table.open().version)
  }

  @Test func aPictureIsWrittenToAFile() throws {
    let table = try TestTable()
    try table.open().set("k", "v")
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("plot-\(UUID()).svg").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let run = try table.run("plot", "latency", "--over", "100ms", "--svg", path)
    #expect(run.status == 0 && run.output.isEmpty)
    #expect(isWellFormed(try String(contentsOfFile: path, encoding: .utf8)))
    let failing = try table.run("plot", "latency", "--over", "100ms", "--svg", "/no-such-directory/x.svg")
    #expect(failing.status == 11 && failing.errors.split(separator: "\n").count == 1)
  }

  @Test func whatCannotBePlottedIsSaid() throws {
    let table = try TestTable()
    #expect(try table.run("plot", "latency", "--over", "100ms").status == 1)
    for wrong in [
      ["plot"], ["plot", "keys"], ["plot", "fill", "--over", "1ms"], ["plot", "fill", "--json"],
      ["plot", "fill", "--every", "1h"], ["plot", "latency", "--every", "1s"],
    ] {
      #expect(try CommandRun(["-t", table.name] + wrong).status == 2, "\(wrong)")
    }
  }

  @Test func benchMeasuresBothVariantsAndLeavesNothing() throws {
    let run = try CommandRun(["bench", "--json"])
    #expect(run.status == 0)
    #expect(run.objects.map { $0?["variant"] as? String } == ["rcu", "rcu", "rcu", "rwlock", "rwlock", "rwlock"])
    #expect(run.objects[..<3].map { $0?["operation"] as? String } == ["get", "set", "barrier of 100"])
    for object in run.objects {
      let (median, tail) = (object?["p50Nanoseconds"] as? Int ?? 0, object?["p99Nanoseconds"] as? Int ?? 0)
      #expect(median > 0 && tail >= median && object?["measured"] as? Int ?? 0 > 0)
    }
    #expect(try !Table.names().contains { $0.hasPrefix("temporary.") })
    #expect(try CommandRun(["bench", "-t", "x"]).status == 2)
  }
}
