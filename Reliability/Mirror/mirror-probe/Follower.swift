#if Etcd
  import SharedMemory
  import SharedTable
  import Synchronization
  import TableMirror

  /// Takes changes, and notes how long after its issue each came.
  final class Follower: Sendable {
    private struct State {
      /// Nanoseconds.
      var ages: [UInt64] = []
      var isOver = false
    }

    private let state = Mutex(State())

    /// - Parameter value: the moment of the issue. What was there before the load is none.
    private func note(_ value: String) {
      let now = HostClock.monotonicNanoseconds
      guard let issued = UInt64(value), issued > 0, issued <= now else { return }
      state.withLock { $0.ages.append(now - issued) }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Prints how many changes came, and the median and the 99th percentile of their ages in microseconds.
    private func tell() {
      let ages = state.withLock { $0.ages.sorted() }
      guard !ages.isEmpty else { return Role.say("ages 0 0 0") }
      Role.say("ages \(ages.count) \(ages[ages.count / 2] / 1000) \(ages[ages.count * 99 / 100] / 1000)")
    }

    /// As a client of etcd.
    static func watch(_ session: any MirrorSession) async throws {
      let follower = Follower()
      let revision = try await session.position().revision
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await session.watch(from: revision + 1) { answer in
            for event in answer.events { follower.note(String(decoding: event.value ?? [], as: UTF8.self)) }
          }
        }
        group.addTask {
          Role.say("ready")
          try await Role.inputEnds()
        }
        try await group.next()
        group.cancelAll()
      }
      follower.tell()
    }

    /// As a process that has the mirrored table open.
    static func follow(_ name: String) async throws {
      let follower = Follower()
      let table = try Table.open(name)
      async let following: Void = Role.onThread {
        var scan = ChangeScan(of: table, prefix: "k")
        while !follower.isOver {
          while let change = try scan.next() {
            if let key = change.keyText, let value = try table.get(key, as: String.self) { follower.note(value) }
          }
          _ = try table.waitForCommit(after: scan.version, timeout: .milliseconds(100))
        }
      }
      Role.say("ready")
      try await Role.inputEnds()
      follower.state.withLock { $0.isOver = true }
      try await following
      follower.tell()
    }
  }
#endif
