import CShims
import SharedMemory

/// Coming to one's turn: W, and nothing in the way any more.
extension Segment {
  /// W, with everything in order, nobody's claim in the way and readers within their budget. For keys to be claimed: W
  /// and the claim.
  func takeTurn(
    _ participant: Participant, slot: Int, _ reach: BarrierReach, _ start: UInt64, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) {
    if !participant.claims.mayBeAny, !reach.claims {
      do throws(EngineError) {
        if try takeUnclaimed(participant, slot: slot, start, timeoutNanoseconds) { return }
      } catch {
        guard isToWait(for: error, participant) else { throw error }
      }
    }
    try waitForTurn(participant, slot: slot, reach, start, timeoutNanoseconds)
  }

  /// The frequent case, in which a barrier waits for W alone.
  /// - Returns: false with W given back, if somebody claims keys after all.
  private func takeUnclaimed(
    _ participant: Participant, slot: Int, _ start: UInt64, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Bool {
    let outcome = try participant.lock.lock(slot: slot, timeoutNanoseconds: timeoutNanoseconds, now: start)
    if outcome == .ownerDied { inherit(participant) }
    guard !participant.claims.mayBeAny else {
      participant.lock.unlock()
      return false
    }
    try enterWithinBudget(participant, slot: slot, start &+ timeoutNanoseconds)
    return true
  }

  /// What is left to do once W is held and nobody's claim is in the way. Where it throws, W was given back.
  private func enterWithinBudget(_ participant: Participant, slot: Int, _ deadline: UInt64) throws(EngineError) {
    do throws(EngineError) {
      try enter(participant, slot: slot, deadline)
      try enforceLimboBudget(participant)
    } catch {
      participant.lock.unlock()
      throw error
    }
  }

  /// Does the table's policy say to wait for the readers that an error is about?
  private func isToWait(for error: EngineError, _ participant: Participant) -> Bool {
    guard case .full(.limbo) = error else { return false }
    return policy(participant) == .wait
  }

  /// Why W was given back again, for the time being.
  private enum Delay {
    /// Somebody's claim is in the way.
    case claim(Claims.Request)
    /// Readers keep more than their budget.
    case readers(EngineError)
  }

  /// While it waits for a claim, or under the policy to wait for stalled readers, it gives W back. So each that waits
  /// is told of what it waits for and not of the one before it, and dies without anybody's harm.
  private func waitForTurn(
    _ participant: Participant, slot: Int, _ reach: BarrierReach, _ start: UInt64, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) {
    let deadline = start &+ timeoutNanoseconds
    let begun = HostClock.monotonicNanoseconds
    var left = begun < deadline ? deadline - begun : 0
    var pause: UInt64 = 1_000_000
    var request: Claims.Request?
    var refusal: EngineError?
    do throws(EngineError) {
      while true {
        guard let delay = try attempt(participant, slot: slot, reach, &request, deadline, left, refusal) else {
          return
        }
        let now = HostClock.monotonicNanoseconds
        left = now < deadline ? deadline - now : 0
        switch delay {
        case .claim(let request):
          refusal = .timedOut(request.obstacle.map(participant.slots.holder))
          if left > 0 { participant.claims.sleep(request, timeoutNanoseconds: left) }
        case .readers(let error):
          refusal = error
          if left > 0 { shmos_sleep(min(pause, left)) }
          pause = min(pause * 2, 16_000_000)
        }
        if left == 0 { throw refusal! }
        let then = HostClock.monotonicNanoseconds
        left = then < deadline ? deadline - then : 0
      }
    } catch {
      if let request, request.stamp != 0 { participant.claims.withdraw(slot: slot) }
      throw error
    }
  }

  /// Takes W once.
  /// - Parameter refusal: what to say if W itself cannot be had in time.
  /// - Returns: nil with W held; else W was given back.
  private func attempt(
    _ participant: Participant, slot: Int, _ reach: BarrierReach, _ request: inout Claims.Request?, _ deadline: UInt64,
    _ left: UInt64, _ refusal: EngineError?
  ) throws(EngineError) -> Delay? {
    let outcome: WriterLock.Outcome
    do throws(EngineError) {
      outcome = try participant.lock.lock(slot: slot, timeoutNanoseconds: left)
    } catch {
      throw refusal ?? error
    }
    if outcome == .ownerDied { inherit(participant) }
    if participant.claims.mayBeAny || reach.claims {
      if request == nil { request = reach.request(slot: slot, seed: hashSeed) }
      if request != nil, !participant.claims.grant(&request!) {
        participant.lock.unlock()
        return .claim(request!)
      }
    }
    if reach.claims {
      guard participant.ctl.loadRelaxed(ControlLayout.damaged) != 0 else { return nil }
      participant.lock.unlock()
      throw .damaged("it was marked damaged")
    }
    do throws(EngineError) {
      try enterWithinBudget(participant, slot: slot, deadline)
      return nil
    } catch {
      guard isToWait(for: error, participant) else { throw error }
      return .readers(error)
    }
  }
}
