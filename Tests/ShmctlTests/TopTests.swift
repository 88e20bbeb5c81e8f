import Foundation
import Glibc
import SharedTable
import TestSupport
import Testing

@testable import shmctl

@Suite struct TopTests {
  private var state: TopState {
    var state = TopState()
    state.rows = (0..<30).map { index in
      TopState.Row(
        name: "table-\(index)", commitsPerSecond: UInt64(index * 7 % 30), waitsPerSecond: UInt64(index),
        keys: 1000 - index,
        fillPercent: index % 4 == 0 ? nil : index, capacityBytes: 64 << 20, processes: 2)
    }
    state.commands = [
      TopState.Command(name: "web\u{1b}[31m", processes: 3, threads: 12),
      TopState.Command(name: "wörker", processes: 1, threads: 20),
    ]
    state.stalled = (0..<9).map { TopState.Stalled(table: "table-\($0)", who: "web 12", what: "reading, 3 behind") }
    state.time = "12:34:56"
    return state
  }

  private func text(_ state: TopState, _ width: Int = 80, _ height: Int = 24) -> [String] {
    TopFrame.lines(state, width: width, height: height).map(\.text)
  }

  @Test func aFrameFitsIntoAnySize() {
    for width in [1, 2, 10, 39, 40, 80, 200, 1000] {
      for height in [1, 2, 3, 5, 6, 11, 12, 24, 50, 200] {
        for state in [state, TopState()] {
          let lines = TopFrame.lines(state, width: width, height: height)
          #expect(lines.count <= height, "\(width)×\(height)")
          #expect(lines.allSatisfy { $0.text.utf8.count <= width }, "\(width)×\(height)")
          #expect(!lines.contains { $0.text.utf8.contains { $0 < 0x20 || $0 >= 0x7f } })
        }
      }
    }
    #expect(TopFrame.lines(state, width: 0, height: 24).isEmpty)
  }

  @Test func at80By24EverythingIsOnTheScreen() {
    let lines = text(state)
    #expect(lines.count == 24)
    #expect(lines[0].hasPrefix("shmctl top  12:34:56  30 tables  "))
    #expect(lines[2].hasPrefix("TABLE ") && lines[2].contains("COMMITS/S") && lines[2].contains("PROCS"))
    #expect(lines[3].hasPrefix("table-17 "))
    #expect(lines.contains("PARTICIPANTS") && lines.contains("IN THE WAY"))
    #expect(lines.contains { $0.hasPrefix(#"w?rker 1 (20 threads), web\x1b[31m 3 (12 threads)"#) })
    #expect(lines.contains("table-0: web 12 reading, 3 behind") && lines.contains("and 6 more"))
    #expect(lines[23].hasPrefix("q quit"))
  }

  @Test func rowsAreSortedByTheChosenColumn() {
    var state = state
    func first() -> Substring? { text(state)[3].split(separator: " ").first }
    #expect(first() == "table-17")  // 17 * 7 % 30 = 29
    for (order, name) in [("waits", "table-29"), ("fill", "table-29"), ("keys", "table-0"), ("name", "table-0")] {
      _ = state.press("s")
      #expect(state.order.rawValue == order && first().map { String($0) } == name, "\(order)")
    }
    _ = state.press("r")
    #expect(first() == "table-9")
    _ = state.press("s")
    #expect(state.order == .commits)
  }

  @Test func aFilterIsTypedAndTakenBack() {
    var state = state
    for key in "/le-2q" {
      let goesOn = state.press(key)
      #expect(goesOn)
    }
    #expect(state.isTyping && state.shown.isEmpty && text(state).contains("no table's name contains 'le-2q'"))
    _ = state.press("\u{7f}")
    #expect(state.shown.count == 11 && text(state)[1].hasSuffix("filter: le-2_"))
    _ = state.press("\r")
    #expect(!state.isTyping && state.shown.count == 11)
    _ = state.press("\u{1b}")
    #expect(state.shown.count == 30)
    let goesOn = state.press("q")
    #expect(!goesOn)
  }

  @Test func rowsAreScrolledWithinBounds() {
    var state = state
    for _ in 0..<5 { _ = state.press("j") }
    #expect(text(state)[3].split(separator: " ").first.map { String($0) } == state.shown[5].name)
    for _ in 0..<500 { _ = state.press("j") }
    #expect(state.offset == 29)
    for _ in 0..<500 { _ = state.press("k") }
    #expect(state.offset == 0)
  }

  @Test func attributesAreLeftOutWhereTheyAreNotWanted() {
    let line = FrameLine(text: "x", style: .alarm)
    #expect(line.rendered(isStyled: false) == "x" && line.rendered(isStyled: true) == "\u{1b}[31mx\u{1b}[m")
  }

  /// The counts of waits begin anew with a repair.
  @Test func aCountThatWentBackHasNoRate() {
    #expect(Rate.perSecond(from: 10, to: 25, in: .milliseconds(500)) == 30)
    #expect(Rate.perSecond(from: 25, to: 10, in: .milliseconds(500)) == 0)
    #expect(Rate.perSecond(from: 0, to: .max, in: .milliseconds(500)) == .max)
    #expect(Rate.perSecond(from: 0, to: 1, in: .zero) == 0)
  }

  // MARK: - Of real tables

  @Test func batchPrintsFramesOfWhatHappens() throws {
    let table = try TestTable()
    let worker = try WorkerProcess("table-worker", timeoutSeconds: 100)
    try worker.ask("open \(table.name)", expecting: "ok")
    try worker.ask("barriers-for-ever 1", expecting: "in")
    let run = try CommandRun(["top", "--batch", "2", "--interval", "100ms", "--filter", table.name])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.text.components(separatedBy: "shmctl top  ").count == 3)
    #expect(run.text.contains("table-worker 1 (1 thread)"))
    #expect(run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let arguments = ["top", "--batch", "1", "--interval", "200ms", "--filter", table.name, "--json"]
    var object = try CommandRun(arguments).objects
    // On a busy machine the worker may have had no processor meanwhile.
    for _ in 0..<50 where object[0]?["commitsPerSecond"] as? Int == 0 { object = try CommandRun(arguments).objects }
    #expect(object.count == 1 && object[0]?["table"] as? String == table.name)
    #expect((object[0]?["commitsPerSecond"] as? Int ?? 0) > 0 && object[0]?["processes"] as? Int == 1)
    try worker.killAndWait()
  }

  @Test(arguments: [
    [], ["--json"], ["--batch", "0"], ["--interval", "1ms", "--batch", "1"], ["--sort", "age", "--batch", "1"],
    ["-t", "x", "--batch", "1"],
  ])
  func whatCannotBeIsAUsageError(options: [String]) throws {
    let run = try CommandRun(["top"] + options)
    #expect(run.status == 2 && run.output.isEmpty && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }
}
