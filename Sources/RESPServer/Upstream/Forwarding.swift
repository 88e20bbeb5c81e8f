import SharedTable
import UpstreamWrites

/// One command, or one transaction, on its way to the store that a table mirrors. A lane's thread runs it, and waits.
struct Forwarding {
  let table: Table
  let writer: any UpstreamWriter
  let end: ContinuousClock.Instant

  init(of table: Table, by writer: any UpstreamWriter, patience: Duration) {
    self.table = table
    self.writer = writer
    end = .now + patience
  }

  /// So much later than the store's answer would be too late, nothing is waited for any more.
  private static let grace = Duration.seconds(1)

  /// Drafts, has the store make what was drafted, and returns when the table shows it.
  /// - Parameters:
  ///   - undo: takes back what `draft` answered: the store has changed what it looked at, and it is called anew.
  ///   - draft: returns false if there is nothing to be made of it.
  /// - Returns: what `draft` returned at last.
  func run(undo: () -> Void, _ draft: (inout DraftSection) throws -> Bool) throws -> Bool {
    var tries = 0
    while true {
      guard left > .zero else { throw busy(tries) }
      let session = try session()
      // The session is that of the mirror that the name leads to now.
      guard table.administration.isNamed else {
        throw TableError(
          .unlinked, table: table.name, "its name was removed or taken by another table; nothing was written")
      }
      let drafted = Draft(of: table)
      let goesOn = try table.read(timeout: left) { view in
        drafted.begin(at: try revision(view))
        var section = DraftSection(view, drafted)
        return try draft(&section)
      }
      let commit = drafted.commit
      if !goesOn || commit.isEmpty { return goesOn }
      switch try send(commit, session) {
      case .made(let revision?): try show(revision)
      case .made(nil):
        // Premises tell that the table shows what there is; where all is removed there are none.
        if commit.removesOthers { try showEmptyStore() }
      case .conflict:
        tries += 1
        undo()
        guard waits(until: { $0.revision > commit.revision }) else { throw busy(tries) }
        continue
      }
      return true
    }
  }

  private var left: Duration { max(.zero, end - .now) }

  private func revision(_ view: ReadView) throws -> Int64 {
    guard let text = try view.get(Table.Upstream.key, as: String.self), let status = UpstreamStatus(text: text),
      status.revision > 0
    else { throw CommandError(.away("it has not been read yet"), table.name) }
    return status.revision
  }

  // MARK: - The store

  private func session() throws(CommandError) -> any UpstreamSession {
    do { return try writer.session(ofTable: table.name) } catch { throw CommandError(error, table.name) }
  }

  private func send(
    _ commit: UpstreamCommit, _ session: any UpstreamSession
  ) throws(CommandError) -> UpstreamCommit.Outcome {
    let time = left
    let answer = BlockingCall.wait(atMost: time + Self.grace) { () -> Result<UpstreamCommit.Outcome, UpstreamRefusal> in
      do throws(UpstreamRefusal) {
        return .success(try await session.commit(commit, timeout: time))
      } catch {
        return .failure(error)
      }
    }
    switch answer {
    case .success(let outcome): return outcome
    case .failure(let refusal): throw CommandError(refusal, table.name)
    case nil: throw CommandError(.unsure("no answer came"), table.name)
    }
  }

  // MARK: - The table

  private func show(_ revision: Int64) throws(CommandError) {
    guard waits(until: { $0.revision >= revision }) else {
      throw CommandError(
        "MIRRORLATE table '\(table.name)': the other store has made it, as revision \(revision), which this host does not show yet"
      )
    }
  }

  private func showEmptyStore() throws(CommandError) {
    let now = UpstreamStatus.Moment.now
    guard waits(until: { $0.isAsNew(as: now) }) else {
      throw CommandError(
        "MIRRORLATE table '\(table.name)': the other store has no keys to remove, which this host does not show yet")
    }
  }

  /// Waits for what the table says of itself.
  /// - Returns: false if the time is over.
  private func waits(until isWanted: (UpstreamStatus) -> Bool) -> Bool {
    let found = try? table.waitUntil(Table.Upstream.key, as: String.self, timeout: left) { text in
      text.flatMap { UpstreamStatus(text: $0) }.map(isWanted) ?? false
    }
    return found != nil
  }

  private func busy(_ tries: Int) -> CommandError {
    let why =
      tries == 0
      ? "other clients' writes took all its time"
      : "what it depends on was changed over there while it was on its way, \(tries) \(tries == 1 ? "time" : "times")"
    return CommandError("MIRRORBUSY table '\(table.name)': \(why); nothing was written, try again")
  }
}

extension CommandError {
  init(_ refusal: UpstreamRefusal, _ table: String) {
    switch refusal {
    case .away(let why): self.init("MIRRORAWAY table '\(table)': \(why); nothing was written")
    case .refused(let why): self.init("ERR table '\(table)': the other store refuses it: \(why); nothing was written")
    case .notPermitted(let why):
      self.init("NOPERM table '\(table)': the other store does not admit it: \(why); nothing was written")
    case .unsure(let why):
      self.init(
        "MIRRORUNSURE table '\(table)': \(why); the other store may have made it, or may yet: look before it is tried again"
      )
    }
  }
}
