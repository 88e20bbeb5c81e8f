import SharedMemory

/// The value of a place, computed once on the host.
extension ClaimedPlace {
  /// The value that the caller has just looked for in vain.
  ///
  /// Blocks while another computes, at most `timeout`; `compute` runs on the calling thread, in no section.
  @available(*, noasync)
  func missingValue(timeout: Duration?, _ compute: () throws -> Value) throws -> Value {
    let deadline = Deadline(timeout ?? table.timeout)
    let own = try ClaimRecord(table, ofTask: false)
    while true {
      switch try claim(own) {
      case .present(let value): return value
      case .held(let other): if let value = try wait(other, deadline) { return value }
      case .claimed(let claim):
        let value: Value
        do {
          value = try ClaimRecord.$computing.withValue(ClaimRecord.computing + [claim], operation: compute)
        } catch {
          release(claim)
          throw error
        }
        return try conclude(claim, value)
      }
    }
  }

  /// The value that the caller has just looked for in vain, for tasks: suspends while another computes. Barriers run on the queue's threads.
  nonisolated(nonsending) func missingValue(
    timeout: Duration?, _ compute: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let deadline = Deadline(timeout ?? table.timeout)
    let own = try await queue.runJobUnlessCancelled { () throws(TableError) in try ClaimRecord(table, ofTask: true) }
    while true {
      switch try await queue.runJobUnlessCancelled({ () throws(TableError) in try claim(own) }) {
      case .present(let value): return value
      case .held(let other): if let value = try await suspend(other, deadline) { return value }
      case .claimed(let claim):
        let value: Value
        do {
          value = try await ClaimRecord.$computing.withValue(ClaimRecord.computing + [claim], operation: compute)
        } catch {
          await released(claim)
          throw error
        }
        // Not taken out if the task is cancelled: the claim would stay.
        return try await queue.runJob { () throws(TableError) in try conclude(claim, value) }
      }
    }
  }

  nonisolated(nonsending) private func released(_ claim: ClaimRecord) async {
    _ = try? await queue.runJob { () throws(TableError) in release(claim) }
  }
}
