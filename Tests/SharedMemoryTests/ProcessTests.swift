import CShims
import Glibc
import SharedMemory
import TestSupport
import Testing

@Suite struct ProcessIdentityTests {
  @Test func aProcessTellsTheSameOfItselfAsOthersDo() throws {
    let worker = try WorkerProcess("shm-test-worker")
    let words = try worker.ask("identity").split(separator: " ")
    #expect(Int32(words[0]) == worker.pid)
    #expect(UInt64(words[1]) == (try ProcessIdentity.startTime(of: worker.pid)))
    #expect(words[2] == "shm-test-worker")
    #expect(ProcessIdentity.commandName(of: worker.pid) == "shm-test-worker")
    #expect(ProcessIdentity.isAlive(pid: worker.pid))
    try worker.finish()
    #expect(!ProcessIdentity.isAlive(pid: worker.pid))
    #expect(throws: SystemError.self) { try ProcessIdentity.startTime(of: worker.pid) }
    #expect(ProcessIdentity.commandName(of: worker.pid) == nil)
  }

  @Test func whoMayNotBeSignalledIsAliveAndNobodyIsNot() throws {
    // Root may signal it, and becomes somebody else.
    try WorkerProcess("shm-test-worker").ask("is-alive-to-nobody 1", expecting: "true")
    for pid: Int32 in [0, -1, .min, .max] { #expect(!ProcessIdentity.isAlive(pid: pid)) }
  }

  @Test func aStrangersCommandNameIsCleaned() {
    #expect(CommandName(words: (0x41_1b_42, 0)).description == "B?A")
    #expect(CommandName(words: (.max, .max)).description == String(repeating: "?", count: 16))
    #expect(CommandName(words: (0, .max)).description == "")
  }

  @Test func theHostIsTheSameForEveryone() throws {
    #expect(PlatformFingerprint.current == PlatformFingerprint.current)
    #expect(PlatformFingerprint.current.mutexByteCount <= RobustMutex.byteCount)
    #expect(PlatformFingerprint.current.rwlockByteCount <= SharedRWLock.byteCount)
    #expect(try ProcessIdentity.pidNamespace() != 0)
  }

  @Test func membarrierIsAvailableWhereItIsRegistered() {
    #expect(Membarrier.mode == .fenced || Membarrier.heavy())
  }
}

@Suite struct ThreadRecordTests {
  // The records of this thread may hold others' segments too: use numbers nobody else does.
  private static let segments = UInt64.max - 200..<UInt64.max

  @Test func aThreadRemembersAsManySegmentsAsItUsesAndTheyDoNotMove() {
    var records: [UInt64: UnsafeMutablePointer<shm_thread_record>] = [:]
    for segment in Self.segments {
      #expect(shm_thread_find(segment) == nil)
      records[segment] = shm_thread_add(segment)
      records[segment]?.pointee.snapshot = segment &* 3
    }
    #expect(Set(records.values).count == Self.segments.count)
    for segment in Self.segments {
      #expect(shm_thread_find(segment) == records[segment])
      #expect(shm_thread_find(segment)?.pointee.snapshot == segment &* 3)
    }
    for segment in Self.segments { shm_thread_remove(segment) }
    for segment in Self.segments { #expect(shm_thread_find(segment) == nil) }

    // What was forgotten is used again, zeroed, before anything is allocated.
    let again = shm_thread_add(Self.segments.lowerBound)
    #expect(again?.pointee.snapshot == 0)
    #expect(records.values.contains(again!))
    shm_thread_remove(Self.segments.lowerBound)
  }

  @Test func whatWasLastUsedIsFoundWithoutASearchHoweverManyThereAre() {
    for segment in Self.segments {
      _ = shm_thread_add(segment)
      #expect(shm_thread_home(segment).pointee.segment == segment)
    }
    for segment in Self.segments.reversed() {
      #expect(shm_thread_quick_find(segment) == shm_thread_home(segment))
      #expect(shm_thread_home(segment).pointee.segment == segment)
    }
    for segment in Self.segments {
      shm_thread_remove(segment)
      #expect(shm_thread_home(segment).pointee.segment != segment)
    }
  }

  @Test func recordsBelongToTheirThread() {
    let segment = Self.segments.upperBound - 1
    let mine = shm_thread_add(segment)
    defer { shm_thread_remove(segment) }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        let segments = UInt64.max - 200..<UInt64.max
        let foreign = segments.contains { shm_thread_find($0) != nil }
        for segment in segments { _ = shm_thread_add(segment) }
        // Their chunks are freed with this thread: the leak sanitizer looks.
        return UnsafeMutableRawPointer(bitPattern: foreign ? 2 : 1)
      }, nil)
    var result: UnsafeMutableRawPointer?
    pthread_join(thread, &result)
    #expect(Int(bitPattern: result) == 1)
    #expect(shm_thread_find(segment) == mine)
  }

  @Test func zeroIsNoSegment() {
    #expect(shm_thread_add(0) == nil)
    #expect(shm_thread_find(0) == nil)
    shm_thread_remove(0)
  }
}

@Suite struct ForkTests {
  @Test(arguments: [
    "fork-forgets-records", "fork-keeps-registration", "fork-inside-section", "fork-inside-section-beside-locks",
    "fork-beside-grace-periods", "fork-beside-signals",
  ])
  func aForkedChildStartsAfresh(_ command: String) throws {
    let worker = try WorkerProcess("shm-test-worker")
    try worker.ask(command, expecting: "ok")
    try worker.finish()
  }

  @Test func aForkedChildHasNoPartInALockThatIsKeptFromIt() throws {
    try withObjectName { name throws in
      let worker = try WorkerProcess("shm-test-worker")
      try worker.ask("fork-leaves-lock-to-parent \(name)", expecting: "ok")
      try worker.finish()
    }
  }

  @Test func aForkedChildDoesNotHoldItsParentsLocks() throws {
    try withSharedPage { page, _, worker in
      try RobustMutex(at: page).initialize()
      try worker.ask("fork-does-not-hold 0", expecting: "ok")
      #expect(RobustMutex(at: page).tryLock() == .acquired)
      try RobustMutex(at: page).unlock()
    }
  }
}
