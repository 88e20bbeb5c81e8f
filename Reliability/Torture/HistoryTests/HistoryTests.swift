import History
import Testing

/// The checker of histories must find what is wrong, and only that. Times are in any unit; keys 1 to 9, values from 10.
@Suite struct HistoryTests {
  // MARK: - One key

  @Test func whatHappensAtOnceMayComeInAnyOrder() {
    #expect(problems(set(1, 10, 0, 10), set(1, 11, 0, 10), get(1, 10, 20, 30)) == [])
    #expect(problems(set(1, 10, 0, 10), set(1, 11, 0, 10), get(1, 11, 20, 30)) == [])
    #expect(problems(set(1, 10, 0, 30), get(1, 0, 5, 10), get(1, 10, 11, 20)) == [])
    #expect(problems(set(1, 10, 0, 100), set(1, 11, 0, 100), get(1, 10, 1, 100), get(1, 11, 1, 100)) == [])
    // A section and a set of the same instant.
    #expect(problems(set(1, 10, 0, 10), get(1, 0, 10, 12)) == [])
  }

  @Test func aStaleReadIsFound() {
    #expect(problems(set(1, 10, 0, 10), set(1, 11, 20, 30), get(1, 10, 40, 50)) != [])
    #expect(problems(set(1, 10, 0, 10), get(1, 0, 20, 30)) != [])
    #expect(problems(set(1, 10, 0, 10), remove(1, 20, 30), get(1, 10, 40, 50)) != [])
  }

  @Test func aReadThatGoesBackIsFoundThoughTheWriteIsStillRunning() {
    #expect(problems(set(1, 10, 0, 100), get(1, 10, 10, 20), get(1, 0, 30, 40)) != [])
    #expect(problems(set(1, 10, 0, 100), get(1, 10, 10, 35), get(1, 0, 30, 40)) == [])
  }

  @Test func aReadFromTheFutureIsFound() {
    #expect(problems(get(1, 10, 0, 10), set(1, 10, 20, 30)) != [])
    #expect(problems(section(3, [1: 10], 0, 10), barrier(3, [1: 10], 20, 30)) != [])
  }

  @Test func aValueThatNobodyWroteIsFound() {
    #expect(problems(get(1, 10, 0, 10)).first?.contains("nobody wrote") == true)
    #expect(problems(set(2, 10, 0, 5), get(1, 10, 10, 20)) != [])
  }

  @Test func aLostUpdateIsFound() {
    // Both compare-and-sets believe to have replaced 10.
    let twice = [
      set(1, 10, 0, 10), compareAndSet(1, 10, 11, 20, 40), compareAndSet(1, 10, 12, 20, 40),
    ]
    #expect(History(twice).problems() != [])
    #expect(
      problems(set(1, 10, 0, 10), compareAndSet(1, 10, 11, 20, 40), compareAndSet(1, 10, 12, 20, 40, held: false)) == []
    )
    // Two barriers that both read 10 and wrote what follows from it.
    #expect(
      problems(
        barrier(2, [1: 10], 0, 10), barrier(3, [1: 11], reads: [1: 10], 20, 40),
        barrier(4, [1: 12], reads: [1: 10], 20, 40)) != [])
  }

  @Test func aConditionThatWasJudgedWronglyIsFound() {
    #expect(problems(set(1, 10, 0, 10), compareAndSet(1, 10, 11, 20, 30, held: false)) != [])
    #expect(problems(set(1, 10, 0, 10), remove(1, 20, 30, wasThere: false)) != [])
    #expect(problems(remove(1, 20, 30)) != [])
    #expect(problems(set(1, 10, 0, 10), remove(1, 20, 30), remove(1, 40, 50, wasThere: false)) == [])
    #expect(problems(set(1, 10, 0, 10), remove(1, 20, 30), remove(1, 25, 50)) != [])
  }

  // MARK: - Killed in an operation

  @Test func whatAKilledProcessBeganMayHappenOrNot() {
    #expect(problems(set(1, 10, 0, nil), get(1, 0, 5, 10), get(1, 0, 20, 30)) == [])
    #expect(problems(set(1, 10, 0, nil), get(1, 0, 5, 10), get(1, 10, 20, 30)) == [])
    // Late: somebody else is thought to have finished it.
    #expect(problems(set(1, 10, 0, nil), set(1, 11, 5, 10), get(1, 11, 12, 15), get(1, 10, 20, 30)) == [])
    #expect(problems(remove(1, 0, nil), set(1, 10, 1, 2), get(1, 0, 5, 10)) == [])
    #expect(problems(set(1, 10, 0, 1), compareAndSet(1, 10, 11, 2, nil), get(1, 11, 5, 10)) == [])
    #expect(problems(barrier(2, [1: 10, 2: 11], 0, nil), section(2, [1: 10, 2: 11], 5, 10)) == [])
    #expect(problems(barrier(2, [1: 10, 2: 11], 0, nil), section(2, [1: 0, 2: 0], 5, 10)) == [])
  }

  @Test func whatAppearsVanishesAndReappearsIsFound() {
    #expect(
      problems(set(1, 10, 0, 1), set(1, 11, 2, nil), get(1, 11, 5, 6), get(1, 10, 7, 8), get(1, 11, 9, 10)) != [])
    #expect(problems(set(1, 10, 0, 1), set(1, 11, 2, nil), get(1, 11, 5, 6), get(1, 10, 7, 8)) != [])
    let vanishing = [
      barrier(2, [1: 10, 2: 11], 0, nil), section(2, [1: 10], 5, 10), section(3, [1: 0], 20, 30),
      section(4, [1: 10], 40, 50),
    ]
    #expect(History(vanishing).problems() != [])
  }

  @Test func aHalfOfAKilledBarrierIsFound() {
    #expect(problems(barrier(2, [1: 10, 2: 11], 0, nil), section(2, [1: 10, 2: 0], 5, 10)) != [])
    // Each half by itself would be a register.
    #expect(
      problems(barrier(2, [1: 10, 2: 11], 0, nil), section(2, [1: 10], 5, 10), section(3, [2: 0], 20, 30)) != [])
  }

  @Test func whatWasUndoneMayNotBeSeen() {
    #expect(problems(barrier(2, [1: 10], 0, 5, .undone), section(2, [1: 10], 10, 20)) != [])
    #expect(problems(barrier(2, [1: 10], 0, 5, .undone), get(1, 10, 2, 4)) != [])
    #expect(problems(barrier(2, [1: 10], 0, nil, .undone), get(1, 10, 2, 4)) != [])
    #expect(problems(barrier(2, [1: 10], 0, 5, .undone), section(2, [1: 0], 10, 20)) == [])
  }

  @Test func aKilledBarrierThatOnlyAnUndoneOneSawHasHappened() {
    let killed = [
      barrier(2, [1: 10], 0, 5), barrier(3, [1: 11], 6, nil), barrier(4, [2: 12], reads: [1: 11], 7, 9, .undone),
    ]
    #expect(History(killed).problems() == [])
    #expect(History(killed + [section(4, [1: 11], 20, 30)]).problems() == [])
    #expect(History(killed + [section(4, [1: 10], 20, 30)]).problems() != [])
  }

  @Test func aRemovalByAKilledBarrierMayHaveHappened() {
    let killed = [barrier(2, [1: 10, 2: 11], 0, 5), barrier(3, [1: 0, 3: 12], 6, nil)]
    #expect(History(killed + [barrier(4, [1: 13], reads: [1: 0], 20, 30)]).problems() == [])
    #expect(History(killed + [section(3, [1: 0, 3: 12], 20, 30)]).problems() == [])
    #expect(History(killed + [section(3, [1: 10, 3: 0], 20, 30)]).problems() == [])
    #expect(History(killed + [section(3, [1: 0, 3: 0], 20, 30)]).problems() != [])
    #expect(History(killed + [section(2, [1: 0], 20, 30)]).problems() != [])
    #expect(History(killed + [section(3, [1: 0], 20, 30), section(3, [1: 10], 40, 50)]).problems() != [])
    #expect(History(killed + [section(3, [2: 0], 20, 30)]).problems() != [])
  }

  // MARK: - Versions

  @Test func aTornMultiKeyReadIsFound() {
    let writes = [barrier(2, [1: 10, 2: 11], 0, 5), barrier(3, [1: 12, 2: 13], 6, 40)]
    #expect(History(writes + [section(2, [1: 10, 2: 11], 20, 30)]).problems() == [])
    #expect(History(writes + [section(3, [1: 12, 2: 13], 20, 30)]).problems() == [])
    #expect(History(writes + [section(3, [1: 12, 2: 11], 20, 30)]).problems() != [])
    #expect(History(writes + [section(2, [1: 12, 2: 11], 20, 30)]).problems() != [])
  }

  @Test func aSectionOfAnotherVersionThanItSaysIsFound() {
    let writes = [barrier(2, [1: 10], 0, 5), barrier(3, [1: 11], 6, 40)]
    #expect(History(writes + [section(2, [1: 11], 20, 30)]).problems() != [])
    #expect(History(writes + [section(3, [1: 10], 20, 30)]).problems() != [])
  }

  @Test func versionsThatGoBackAreFound() {
    // By sections, though neither reads anything.
    #expect(problems(section(7, [:], 0, 10), section(6, [:], 20, 30)) != [])
    #expect(problems(section(7, [:], 0, 10), section(6, [:], 5, 30)) == [])
    // By a barrier that ended before another began.
    #expect(problems(barrier(5, [1: 10], 0, 10), barrier(4, [2: 11], 20, 30)) != [])
    #expect(problems(barrier(5, [1: 10], 0, 10), section(4, [2: 0], 20, 30)) != [])
    // By the version of a value that was read before.
    #expect(
      problems(barrier(5, [1: 10], 0, 9), get(1, 10, 10, 15, version: 5), section(4, [3: 0], 20, 30)) != [])
    // A snapshot that is held may be old, but not another than it was.
    let writes = [barrier(2, [1: 10], 0, 5), barrier(3, [1: 11], 20, 25)]
    #expect(History(writes + [section(2, [:], 10, 15), section(2, [1: 10], 30, 40, later: true)]).problems() == [])
    #expect(History(writes + [section(2, [:], 10, 15), section(2, [1: 11], 30, 40, later: true)]).problems() != [])
  }

  // MARK: - Copies of the table

  @Test func aCopyThatGoesBackIsFound() {
    #expect(problems(section(7, [:], 0, 10, copy: 1), section(6, [:], 20, 30, copy: 1)) != [])
    // At the same time, at another copy, or of a newer version: all is well.
    #expect(problems(section(7, [:], 0, 20, copy: 1), section(6, [:], 20, 30, copy: 1)) == [])
    #expect(problems(section(7, [:], 0, 10, copy: 1), section(6, [:], 20, 30, copy: 2)) == [])
    #expect(problems(section(7, [:], 0, 10, copy: 1), section(7, [:], 20, 30, copy: 1)) == [])
    // The table itself is never behind, however far its copies are.
    #expect(problems(section(7, [:], 0, 10, copy: 1), section(6, [:], 20, 30)) != [])
  }

  @Test func aWriteThatItsOwnCopyDoesNotShowIsFound() {
    let write = barrier(5, [1: 10], 0, 10, copy: 1)
    #expect(problems(write, section(4, [1: 0], 11, 20, copy: 1)) != [])
    #expect(problems(write, section(4, [1: 0], 5, 20, copy: 1)) == [])
    #expect(problems(write, section(4, [1: 0], 11, 20, copy: 2)) == [])
    #expect(problems(write, section(5, [1: 10], 11, 20, copy: 1)) == [])
    // Nothing was promised of the one that no copy was to show, nor of one that did not return.
    #expect(problems(barrier(5, [1: 10], 0, 10), section(4, [1: 0], 11, 20, copy: 1)) == [])
    #expect(problems(barrier(5, [1: 10], 0, nil, copy: 1), section(4, [1: 0], 11, 20, copy: 1)) == [])
    #expect(problems(barrier(5, [1: 10], 0, 10, .undone, copy: 1), section(4, [1: 0], 11, 20, copy: 1)) == [])
  }

  @Test func aCopysSectionIsOfItsVersionAndWhole() {
    let writes = [barrier(2, [1: 10, 2: 11], 0, 5, copy: 1), barrier(3, [1: 12, 2: 13], 6, 9, copy: 2)]
    #expect(History(writes + [section(2, [1: 10, 2: 11], 20, 30, copy: 1)]).problems() == [])
    #expect(History(writes + [section(2, [1: 10, 2: 13], 20, 30, copy: 1)]).problems() != [])
    #expect(History(writes + [section(3, [1: 12, 2: 11], 20, 30, copy: 1)]).problems() != [])
  }

  @Test func oneVersionOfTwoBarriersIsFound() {
    #expect(problems(barrier(2, [1: 10], 0, 10), barrier(2, [2: 11], 5, 15)) != [])
    #expect(problems(barrier(2, [1: 10], 0, 10, .undone), barrier(2, [2: 11], 15, 20)) != [])
    #expect(problems(barrier(2, [1: 10], 0, 10, .undone), barrier(3, [2: 11], 15, 20)) == [])
    // A killed one that nobody saw anything of gave its version up.
    #expect(problems(barrier(2, [1: 10], 0, nil), barrier(3, [2: 11], 15, 20)) == [])
  }

  @Test func whatASingleWriteReplacedIsFoundInSnapshots() {
    let writes = [set(1, 10, 0, 1), get(1, 10, 2, 3, version: 4), set(1, 11, 4, 5), get(1, 11, 6, 7, version: 6)]
    #expect(History(writes + [section(5, [1: 10], 0, 8)]).problems() == [])
    #expect(History(writes + [section(6, [1: 10], 0, 8)]).problems() != [])
    #expect(History(writes + [section(5, [1: 11], 0, 8)]).problems() != [])
    #expect(History(writes + [get(1, 11, 8, 9, version: 7)]).problems() != [])
  }

  @Test func aBarrierThatReadsItsOwnWritesIsRight() {
    let own = Operation(
      process: 1, .barrier, begin: 0, end: 5, version: 2,
      [Access(key: 1, .equals(0)), Access(key: 1, write: 10), Access(key: 1, .equals(10))])
    #expect(problems(own) == [])
    var wrong = own
    wrong.accesses[2].condition = .equals(0)
    #expect(problems(wrong) != [])
  }
}
