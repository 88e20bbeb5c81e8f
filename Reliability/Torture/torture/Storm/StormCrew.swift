import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// The processes of a storm: a place each, and who takes it now.
final class StormCrew {
  private struct Member {
    let role: String
    let seat: Int
    var process: WorkerProcess
    /// When to go on, while it is stopped.
    var stoppedUntil: UInt64?
  }

  let table: Table
  let board: StormBoard
  private let boardPath: String
  private let writers: Int
  /// How long a process may live.
  private let lifeSeconds: Int
  private var members: [Member] = []
  var generator: SplitMix
  private(set) var started = 0
  private(set) var kills = 0
  private(set) var stops = 0

  static let seats = 16
  /// The place of the one that nobody signals.
  static let untouchedSeat = 15

  init(_ table: Table, boardPath: String, writers: Int, _ generator: SplitMix, lifeSeconds: Int = 300) {
    self.table = table
    self.boardPath = boardPath
    self.writers = writers
    self.lifeSeconds = lifeSeconds
    self.generator = generator
    board = StormBoard(path: boardPath, seats: Self.seats)
  }

  var processes: Int { members.count }

  // MARK: - Coming and going

  func start(_ role: String, seat: Int) throws {
    members.append(Member(role: role, seat: seat, process: try spawn(role, seat), stoppedUntil: nil))
  }

  private func spawn(_ role: String, _ seat: Int) throws -> WorkerProcess {
    started += 1
    let seed = generator.next() >> 8
    let arguments = [table.name, boardPath, "\(Self.seats)", "\(writers)", "\(seat)", "\(seed)"]
    return try startWorker(role, arguments, timeoutSeconds: lifeSeconds)
  }

  private func index(_ seat: Int) -> Int { members.firstIndex { $0.seat == seat }! }

  func process(_ seat: Int) -> WorkerProcess { members[index(seat)].process }

  /// Kills who takes the place, and leaves it empty.
  func dismiss(_ seat: Int) throws {
    try kill(index(seat))
    members.remove(at: index(seat))
  }

  func dismissAll(_ seats: some Sequence<Int>) throws {
    for seat in seats { try dismiss(seat) }
  }

  private func kill(_ index: Int) throws {
    let member = members[index]
    member.process.kill(SIGKILL)
    let exit = try member.process.wait()
    board.set(member.seat, .inside, 0)
    kills += 1
    if exit != .signal(SIGKILL) || !member.process.standardError.isEmpty { throw broken(member, exit) }
  }

  private func broken(_ member: Member, _ exit: WorkerProcess.Exit) -> Broken {
    let said = member.process.standardError.split(separator: "\n").first.map { ": \($0)" } ?? ""
    return Broken("\(member.role) \(member.process.pid) ended by itself with \(exit)\(said)")
  }

  // MARK: - Weather

  /// For so long: random kills, each followed by a new process, stops and continuations.
  func storm(seconds: Double, from: Double, to: Double) throws {
    let begin = HostClock.monotonicNanoseconds
    let length = UInt64(seconds * 1e9)
    while true {
      let passed = HostClock.monotonicNanoseconds - begin
      if passed >= length { break }
      // The table grows all the time.
      board[.ceiling] = UInt64(from + (to - from) * Double(passed) / Double(length))
      usleep(UInt32(2000 + generator.below(14000)))
      try lookAround()
      let index = generator.below(2) == 0 ? ambush() : generator.below(members.count)
      guard let index, members[index].seat != Self.untouchedSeat else { continue }
      switch generator.below(10) {
      case ..<4:
        try kill(index)
        members[index].process = try spawn(members[index].role, members[index].seat)
        members[index].stoppedUntil = nil
      case ..<8:
        stop(index, milliseconds: pause())
      default: break
      }
    }
    try calm()
  }

  /// Somebody who is in the middle of a barrier just now, if there is one soon.
  func ambush() -> Int? {
    for _ in 0..<400 {
      if let index = members.firstIndex(where: { $0.stoppedUntil == nil && board.count($0.seat, .inside) > 0 }) {
        return index
      }
      usleep(10)
    }
    return nil
  }

  /// Who is stopped stops everybody in the rwlock variant, if it was inside: then there is no storm for so long.
  private func pause() -> Int {
    let isLong = generator.below(20) == 0
    return table.variant == .rcu ? (isLong ? 1000 : 1 + generator.below(100)) : (isLong ? 300 : 1 + generator.below(10))
  }

  private func stop(_ index: Int, milliseconds: Int) {
    guard members[index].stoppedUntil == nil else { return }
    members[index].process.kill(SIGSTOP)
    members[index].stoppedUntil = HostClock.monotonicNanoseconds + UInt64(milliseconds) * 1_000_000
    stops += 1
  }

  /// Stops the process of a place until it is dismissed.
  func stop(seat: Int) { stop(index(seat), milliseconds: 1 << 30) }

  /// Lets go on whose time has come; an end that nobody asked for is a broken promise.
  func lookAround() throws {
    let now = HostClock.monotonicNanoseconds
    for index in members.indices {
      if let until = members[index].stoppedUntil, until <= now {
        members[index].process.kill(SIGCONT)
        members[index].stoppedUntil = nil
      }
      if members[index].process.hasEnded { throw broken(members[index], try members[index].process.wait()) }
    }
  }

  /// Lets everybody go on, sees everybody go on, and the table in order.
  func calm() throws {
    for index in members.indices where members[index].stoppedUntil != nil {
      members[index].process.kill(SIGCONT)
      members[index].stoppedUntil = nil
    }
    let before = members.map { board.count($0.seat, .beats) }
    let deadline = HostClock.monotonicNanoseconds + 60_000_000_000
    for (member, beats) in zip(members, before) {
      while board.count(member.seat, .beats) == beats {
        try lookAround()
        usleep(1000)
        if HostClock.monotonicNanoseconds > deadline {
          throw Broken("\(member.role) \(member.process.pid) hangs, though nobody is stopped (G5, G6)")
        }
      }
    }
    let problems = try table.check()
    if !problems.isEmpty { throw Broken("check: \(problems.prefix(3).joined(separator: "; "))") }
  }

  /// Ends everybody in good order.
  func disband() throws {
    board[.stop] = 1
    for member in members {
      let exit = try member.process.wait()
      if exit != .code(0) { throw broken(member, exit) }
    }
    members = []
  }

  /// After a broken promise: nobody stays.
  func abandon() {
    for member in members { member.process.kill(SIGKILL) }
    members = []
  }
}
