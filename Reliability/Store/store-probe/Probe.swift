import Glibc
import SharedTable
import TableStore
import TestSupport

/// All measurements, one after the other, each with tables and a directory of its own.
struct Probe {
  private let directory: StoreDirectory
  private static let value = [UInt8](repeating: 0x61, count: 100)
  private static let million = 1_000_000

  init(directory: String) { self.directory = StoreDirectory("\(directory)/store-probe-\(getpid())") }

  func run() throws {
    defer { removeStores() }
    try measureEveryBarrier()
    try measureBesideRedis()
    try measureRelaxed()
    try measureMillion()
  }

  // MARK: - Measurements

  /// A writer that waits for the disk after each barrier; beside it an append with fdatasync to a file, and the same done for it by another
  /// thread, which costs the two wake-ups that a keeper's thread costs, too.
  private func measureEveryBarrier() throws {
    try withTable(capacityBytes: 64 << 20) { table in
      let keeper = try keeper(table, .everyBarrier)
      defer { keeper.stopAndWait() }
      let file = RawFile(directory.path + "/raw")
      func store(_ round: Int) throws -> Double {
        try microseconds {
          try table.set(key(round), Self.value)
          try table.waitUntilDurable(table.version)
        }
      }
      // Until SQLite's log has had its thousand pages once, it grows with each commit.
      let growing = median(try (0..<1500).map(store).prefix(1000))
      var (stored, raw, helped): ([Double], [Double], [Double]) = ([], [], [])
      for round in 0..<1000 {
        stored.append(try store(round))
        raw.append(microseconds { file.append(Self.value) })
        helped.append(microseconds { file.appendElsewhere(Self.value) })
      }
      print(
        "every-barrier, one writer: median \(shown(median(stored))) µs; append and fdatasync \(shown(median(raw))) µs; "
          + "above it \(shown(median(stored) - median(raw))) µs (bar 60); by another thread \(shown(median(helped))) µs; "
          + "the first thousand of a new store \(shown(growing)) µs")
    }
  }

  /// Writers that wait for the disk after each barrier, as threads that block and as tasks, and clients of a redis-server with
  /// `appendfsync always`.
  private func measureBesideRedis() throws {
    guard RedisServer.isInstalled else {
      return print("beside Redis: not measured, as there is no redis-server; install redis-server and redis-tools")
    }
    try withTable(capacityBytes: 64 << 20) { table in
      let keeper = try keeper(table, .everyBarrier)
      defer { keeper.stopAndWait() }
      let redis = try RedisServer(in: directory.path)
      defer { redis.end() }
      for (count, barriers, bar) in [(1, 2000, 1.0), (50, 20_000, 1.5)] {
        let writers = DurableWriters(table: table, count: count, barriers: barriers, value: Self.value)
        var (threads, tasks, theirs): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<5 {
          threads.append(try writers.rateOfThreads())
          tasks.append(try writers.rateOfTasks())
          theirs.append(try redis.rate(clients: count, sets: barriers, valueBytes: Self.value.count))
        }
        print(
          "durable sets a second, \(count) at a time ÷ Redis' \(shown(median(theirs))): threads "
            + "\(shown(median(threads) / median(theirs))), tasks \(shown(median(tasks) / median(theirs))) (bar \(bar))")
      }
    }
  }

  /// Sets and gets of a table that is stored each second, and of one that is not.
  private func measureRelaxed() throws {
    try withTable(capacityBytes: 256 << 20) { kept in
      try withTable(capacityBytes: 256 << 20) { plain in
        let count = 100_000
        for table in [kept, plain] { try fill(table, count) }
        let keeper = try keeper(kept, .relaxed(.seconds(1)))
        defer { keeper.stopAndWait() }
        try kept.waitUntilDurable(kept.version, timeout: .seconds(60))
        var random = SplitMix(seed: 1)
        for (name, bar, operation) in [
          ("set", 1.05, { (table: Table, key: String) in try table.set(key, Self.value) }),
          ("get", 1.02, { (table: Table, key: String) in _ = try table.get(key, as: [UInt8].self) }),
        ] {
          var (withStore, without): ([Double], [Double]) = ([], [])
          for _ in 0..<400 {
            let keys = (0..<2000).map { _ in key(Int.random(in: 0..<count, using: &random)) }
            withStore.append(try microseconds { for key in keys { try operation(kept, key) } })
            without.append(try microseconds { for key in keys { try operation(plain, key) } })
          }
          print(
            "relaxed(1s), \(name): median \(shown(median(withStore) / median(without))) × none (bar \(bar)); mean "
              + "\(shown(withStore.reduce(0, +) / without.reduce(0, +))) ×")
        }
      }
    }
  }

  /// 50,000 random sets a second over a million keys; then that store beside its living table, and after a reboot.
  private func measureMillion() throws {
    try withTable(capacityBytes: 1 << 30) { table in
      try fill(table, Self.million)
      var keeper = try keeper(table, .relaxed(.seconds(1)))
      try table.waitUntilDurable(table.version, timeout: .seconds(120))
      let before = writtenBytes()
      let load = try load(table, seconds: 30, perSecond: 50_000)
      try table.waitUntilDurable(table.version, timeout: .seconds(60))
      let payload = Double(load.sets * (key(0).utf8.count + Self.value.count))
      print(
        "50,000 random sets a second over a million keys: longest lag \(shown(load.lag)) s (bar 2); "
          + "written \(shown(Double(writtenBytes() - before) / payload)) × payload (bar 8); \(load.sets) sets in "
          + "\(shown(load.seconds)) s")
      keeper.stopAndWait()

      let beside = try microseconds {
        keeper = try self.keeper(table, .everyBarrier)
        try table.set("last", Self.value)
        try table.waitUntilDurable(table.version, timeout: .seconds(60))
      }
      keeper.stopAndWait()
      print("restart beside a living table: \(shown(beside / 1000)) ms until the next set is stored (bar 50)")

      removeObjects(ofTable: table.name)
      var keys = 0
      let restoring = try microseconds {
        keys = try Table.restore(table.name, Table.Options(capacityBytes: 1 << 30), from: directory)!.count
      }
      print("restore of \(keys) keys: \(shown(restoring / 1_000_000)) s (bar 3)")
    }
  }

  /// Random sets in time; what was not on the disk for how long at most.
  private func load(_ table: Table, seconds: Int, perSecond: Int) throws -> (lag: Double, sets: Int, seconds: Double) {
    var random = SplitMix(seed: 2)
    var waiting: ArraySlice<(version: UInt64, time: ContinuousClock.Instant)> = []
    var longest = Duration.zero
    var sets = 0
    let begin = ContinuousClock.now
    while sets < seconds * perSecond {
      let now = ContinuousClock.now
      let durable = table.durableVersion
      while let first = waiting.first, first.version <= durable { waiting.removeFirst() }
      if let first = waiting.first { longest = max(longest, now - first.time) }
      let due = Int((now - begin) / .seconds(1) * Double(perSecond))
      guard due > sets else {
        usleep(500)
        continue
      }
      for _ in 0..<min(due - sets, 100) {
        try table.set(key(Int.random(in: 0..<Self.million, using: &random)), Self.value)
        sets += 1
      }
      waiting.append((table.version, ContinuousClock.now))
    }
    return (longest / .seconds(1), sets, (ContinuousClock.now - begin) / .seconds(1))
  }

  // MARK: - Parts

  private func keeper(_ table: Table, _ mode: StoreMode) throws -> StoreKeeper {
    let keeper = try StoreKeeper(table, mode, in: directory) { event in
      if case .failed(let error) = event { print("store-probe: \(error)") }
    }
    // Until then nobody may wait for what it stores.
    while table.durableVersion == 0, keeper.status.error == nil { usleep(100) }
    if let error = keeper.status.error { throw error }
    return keeper
  }

  private func fill(_ table: Table, _ count: Int) throws {
    for start in stride(from: 0, to: count, by: 1000) {
      try table.barrier { transaction in
        for index in start..<min(count, start + 1000) { try transaction.set(key(index), Self.value) }
      }
    }
  }

  private func key(_ index: Int) -> String { "key:\(1_000_000_000 + index)" }

  private func withTable(capacityBytes: Int, _ body: (Table) throws -> Void) throws {
    let name = uniqueTableName()
    defer { removeObjects(ofTable: name) }
    try body(try Table.create(name, Table.Options(capacityBytes: capacityBytes)))
  }

  private func removeStores() {
    guard let stream = unsafe opendir(directory.path) else { return }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      unsafe unlink("\(directory.path)/\(name)")
    }
    unsafe closedir(stream)
    unsafe rmdir(directory.path)
  }
}

/// What this process has given to write(2) and its like, without what went to memory.
private func writtenBytes() -> Int {
  let file = unsafe open("/proc/self/io", O_RDONLY | O_CLOEXEC)
  defer { close(file) }
  var buffer = [UInt8](repeating: 0, count: 1024)
  let count = unsafe read(file, &buffer, buffer.count)
  for line in String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "\n") {
    let parts = line.split(separator: " ")
    if parts[0] == "wchar:" { return Int(parts[1])! }
  }
  return 0
}

func microseconds(_ body: () throws -> Void) rethrows -> Double {
  try ContinuousClock().measure(body) / .microseconds(1)
}

private func median(_ values: some Sequence<Double>) -> Double {
  let values = values.sorted()
  return values[values.count / 2]
}

private func shown(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
