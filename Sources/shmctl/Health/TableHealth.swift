import Glibc
import SharedTable
import TableMetrics
import ToolSupport

/// What may be wrong with one name and with those who use its table.
struct TableHealth {
  let listing: TableListing
  let trusted: Table.TrustedOwners

  /// From when on a barrier or a reader is worth a word.
  static let longNanoseconds: UInt64 = 10_000_000_000

  func findings() -> [Finding] {
    let name = listing.name
    switch listing.condition {
    case .table(let table): return table.isObserver ? [] : findings(in: table)
    case .foreign(let owner):
      let object = listing.object.map { "\($0)" } ?? "something"
      return [
        Finding(
          "foreign", table: name, "the name is taken by \(owner), whom you do not trust: \(object)",
          cure: "shmctl drop --trust everyone \(name)    # as root or as its owner, if it is nobody's table")
      ]
    case .orphaned(let what): return [orphan(what)]
    case .noTable(let what):
      return [
        Finding("noTable", table: name, what, cure: "shmctl drop \(name)    # if it is so for more than a second")
      ]
    case .incompatible(let what):
      return [
        Finding(
          "versionSkew", table: name, "made by another release: \(what)",
          cure:
            "shmctl dump -t \(name) -o \(name).dump    # with that release, unless shmd stores it; then, with this one, "
            + "'shmctl drop \(name)'; unless shmd makes it anew 'shmctl create \(name)'; 'shmctl load -t \(name) \(name).dump'"
        )
      ]
    case .damaged(let what):
      // A repair would have to open it.
      return [
        Finding("damaged", table: name, what, cure: "shmctl drop \(name)    # unless shmd stores them its values go")
      ]
    case .closed(let what):
      // Of others' tables that one has no right to there is nothing wrong.
      return listing.object?.owner.id == geteuid()
        ? [
          Finding(
            "closed", table: name, what, cure: "shmctl drop \(name)    # or: chmod u+rw /dev/shm/shmtable.\(name).*")
        ]
        : []
    }
  }

  private func orphan(_ what: String) -> Finding {
    let (name, trusted) = (listing.name, trusted)
    guard listing.data == nil else {
      return Finding(
        "orphaned", table: name,
        "\(what), as after an rm of the control object; it holds the table's values, which observers still read",
        cure: "shmctl drop \(name)    # removes the values, too")
    }
    return Finding(
      "orphaned", table: name, "\(what), left by a process that died or by an rm", cure: "shmctl drop \(name)"
    ) {
      try Table.dropHalf(name, trusting: trusted)
    }
  }

  // MARK: - A living table

  /// What a `resize` left that was killed.
  private func leftCopy(_ figures: TableFigures) -> [Finding] {
    guard let (original, pid) = ResizeCopy.parts(of: listing.name), ProcessStatus(pid) == nil else { return [] }
    // One that runs in another PID namespace has it open.
    guard figures.statistics.readers.allSatisfy({ $0.holder.pid == getpid() }) else { return [] }
    let isGone =
      switch (try? TableListing(original, trusting: trusted))?.condition {
      // A resize that was killed while it made the new table leaves half of it, which the next one that makes it removes.
      case .orphaned, .noTable: true
      case .table, .foreign, .incompatible, .damaged, .closed, nil: false
      }
    let (what, cure) =
      isGone
      ? (
        "which is gone: its contents are here alone",
        "shmctl copy \(listing.name) \(original) && shmctl drop \(listing.name)"
      )
      : (
        "which is there; it may be a part",
        "shmctl drop \(listing.name)    # unless 'shmctl diff \(original) \(listing.name)' shows what '\(original)' lacks"
      )
    return [
      Finding(
        "resizeCopy", table: listing.name, "the copy that a killed 'resize' left of '\(original)', \(what)", cure: cure)
    ]
  }

  private func findings(in table: Table) -> [Finding] {
    // A program that has ended, in whatever way, leaves its threads' slots behind. Nothing is wrong with that, and nobody is to take the
    // dead for readers that are in the way.
    _ = try? table.administration.clearDeadReaders()
    let figures = TableFigures(table)
    return leftCopy(figures) + damage(table, figures) + recovery(table, figures) + holders(figures)
      + figures.statistics.readers.compactMap { stalled($0, figures) } + full(figures)
  }

  private func damage(_ table: Table, _ figures: TableFigures) -> [Finding] {
    guard figures.statistics.isDamaged else { return [] }
    // What a repair gives up would be removed from the store, too.
    let cure =
      table.comesBackFromStore
      ? "shmctl drop \(listing.name)    # shmd brings it back from its store" : Self.repair(listing.name)
    return [Finding("damaged", table: listing.name, "it contradicts itself", cure: cure)]
  }

  /// The first command shows what the second gives up, and ends with an error if that is anything.
  private static func repair(_ name: String) -> String { "shmctl repair --dry-run \(name); shmctl repair \(name)" }

  private func recovery(_ table: Table, _ figures: TableFigures) -> [Finding] {
    guard figures.statistics.needsRecovery else { return [] }
    return [
      Finding(
        "deadWriter", table: listing.name, "a writer died in a barrier; its work waits to be undone",
        cure: "shmctl check \(listing.name)    # any write does it, too"
      ) {
        // Whoever gets the writer lock recovers; a barrier that changes nothing is enough.
        try table.barrier(timeout: .seconds(1)) { _ in }
        return true
      }
    ]
  }

  /// Who runs a barrier for long, and who is stopped while others wait for it.
  private func holders(_ figures: TableFigures) -> [Finding] {
    var findings: [Finding] = []
    let writer = figures.statistics.writer
    if let writer, let held = writer.heldNanoseconds, held > Self.longNanoseconds {
      let queue = writer.label.map { " (queue '\($0)')" } ?? ""
      findings.append(
        Finding(
          "longBarrier", table: listing.name,
          "\(writer.command) (pid \(writer.pid)) has run a barrier for \(Phrase.time(held))\(queue); writers wait",
          cure: "kill \(writer.pid)    # the next writer undoes its barrier; nothing else is lost"))
    }
    for client in Client.all(figures) where client.isStopped {
      guard let what = client.threads.first(where: \.isBusy)?.doing else { continue }
      findings.append(
        Finding(
          "stopped", table: listing.name, "\(client.command) (pid \(client.pid)) is stopped: \(what)",
          cure: "kill -CONT \(client.pid)"))
    }
    return findings
  }

  private func stalled(_ reader: Table.Reader, _ figures: TableFigures) -> Finding? {
    guard reader.isStalled, let stalled = reader.inTheWayNanoseconds else { return nil }
    let keepsMuch = reader.keptBytes > (figures.statistics.limboBudgetBytes ?? .max) / 2
    guard stalled > Self.longNanoseconds || keepsMuch else { return nil }
    let holder = reader.holder
    return Finding(
      "stalledReader", table: listing.name,
      "\(holder.command) (pid \(holder.pid), thread \(holder.tid)): \(Phrase.doing(reader, at: figures.statistics.version))",
      cure: "kill \(holder.pid)    # or end its snapshot; see 'shmctl -t \(listing.name) clients'")
  }

  private func full(_ figures: TableFigures) -> [Finding] {
    guard let memory = figures.statistics.memory else { return [] }
    let room = memory.unclaimed + memory.freeSuperframes
    guard room < figures.statistics.capacityBytes / 20 else { return [] }
    return [
      Finding(
        "nearlyFull", table: listing.name,
        "\(Phrase.size(room)) of \(Phrase.size(figures.statistics.capacityBytes)) are free for anything",
        cure:
          "shmctl ls -t \(listing.name)    # remove keys, or make it larger: 'shmctl resize', or shmd's 'capacity'")
    ]
  }
}
