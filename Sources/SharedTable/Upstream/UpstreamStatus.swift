import SharedMemory

/// How far a mirror is: what the table says of it, in the key ``Table/Upstream/key``. It changes in the barrier that it speaks of.
///
/// As it is stored it is text, a line a field, which a later release may add to.
public struct UpstreamStatus: Sendable, Equatable {
  /// What becomes of changes over there.
  public enum State: String, Sendable, CaseIterable {
    /// They come.
    case following
    /// The other store cannot be reached, or has not been yet. It is tried again and again.
    case away
    /// They do not come until somebody does what ``UpstreamStatus/problem`` says.
    case stopped
  }

  /// Whether it follows, and if not, why.
  public var state: State
  /// The other store's address, without names and passwords.
  public var address: String
  /// The revision that the table is, whole. 0: it never was any.
  public var revision: Int64 = 0
  /// Which store that revision is one of: etcd's number of the cluster.
  public var cluster: UInt64 = 0
  /// The highest term of the cluster's consensus that was seen. A store that was put back to an old copy begins with a low one.
  public var term: UInt64 = 0
  /// When the table was last known to be what the other store was: nanoseconds since 1970. 0: never.
  public var asOf: UInt64 = 0
  /// The moment of ``asOf`` by CLOCK_MONOTONIC of this boot, which nobody sets. 0: it was before the host was started, or is not known to be later.
  package var asOfMonotonic: UInt64 = 0
  /// What the table is to hold, and in which form, as far as the mirror's settings say. Another text: it is to be read anew.
  package var contents = ""
  /// The table is to be read anew before events are followed: the settings have changed since it was read, or the mirror stopped. It stands
  /// here so that it is still known where the mirror ends before the read.
  package var isUnread = false
  /// Why it does not follow, and what to do about it; one line. Empty while it does.
  public var problem = ""
  /// The path of the Unix socket at which shmd takes writes to the table; nil if it takes none.
  public var writeSocketPath: String?

  package init(_ state: State, address: String) {
    self.state = state
    self.address = address
  }
}

// MARK: - As text

extension UpstreamStatus {
  /// Padded, so that a mirror's always takes the same room: a full table has room for a value that is no longer than the one before.
  private static let paddedLength = 512
  /// Of all but address, contents and the socket, which are a mirror's for life, or a daemon's.
  private static let mostOfRest = 360
  private static let longestText = 160

  package var text: String {
    let address = Self.line(address)
    var lines = [
      "state \(state.rawValue)", "revision \(revision)", "cluster \(String(cluster, radix: 16))", "term \(term)",
      "as-of \(asOf)", "as-of-monotonic \(asOfMonotonic)", "address \(address)", "contents \(contents)",
      "problem \(Self.line(problem))",
    ]
    if isUnread { lines.append("unread") }
    var lengthOfLife = address.utf8.count + contents.utf8.count
    if let writeSocketPath, Self.isPath(writeSocketPath) {
      lines.append("writes-by \(writeSocketPath)")
      lengthOfLife += lines.last!.utf8.count + 1
    }
    let text = lines.joined(separator: "\n") + "\n"
    let length = max(Self.paddedLength, Self.mostOfRest + lengthOfLife)
    return text + String(repeating: "\n", count: max(0, length - text.utf8.count))
  }

  /// - Returns: nil if a field is missing or is none.
  package init?(text: String) {
    var fields: [Substring: Substring] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      fields[parts[0]] = parts.count > 1 ? parts[1] : ""
    }
    guard let state = fields["state"].flatMap({ State(rawValue: String($0)) }), let address = fields["address"],
      let revision = fields["revision"].flatMap({ Int64($0) }),
      let cluster = fields["cluster"].flatMap({ UInt64($0, radix: 16) }),
      let term = fields["term"].flatMap({ UInt64($0) }), let asOf = fields["as-of"].flatMap({ UInt64($0) }),
      let asOfMonotonic = fields["as-of-monotonic"].flatMap({ UInt64($0) })
    else { return nil }
    self.init(state, address: String(address))
    (self.revision, self.cluster, self.term) = (revision, cluster, term)
    (self.asOf, self.asOfMonotonic) = (asOf, asOfMonotonic)
    contents = String(fields["contents"] ?? "")
    isUnread = fields["unread"] != nil
    problem = String(fields["problem"] ?? "")
    writeSocketPath = fields["writes-by"].map { String($0) }.flatMap { Self.isPath($0) ? $0 : nil }
  }

  /// What a socket is found by from whatever directory, and is one line.
  private static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && text.utf8.count <= LocalSocket.maximumPathLength
      && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }

  /// One line of bounded length, without control characters.
  private static func line(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      if line.utf8.count > longestText { return line + "…" }
      line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
    }
    return line
  }
}
