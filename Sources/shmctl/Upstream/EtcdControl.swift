import SharedTable
import TableMirror
import ToolSupport

/// The etcd that a table mirrors, asked by the host's etcdctl: TLS, user and password are what etcdctl's own variables say.
struct EtcdControl {
  /// Not there any more: the revision was compacted away.
  struct Compacted: Error {}

  let contents: MirrorContents
  private let table: String
  private let cluster: UInt64
  private let additions: [(name: String, value: [UInt8])]

  /// Keys of the first answer. etcd takes values up to 1.5 MiB, unless told otherwise.
  private static let firstLimit = 16
  private static let mostKeys = 16_384
  /// About so many bytes of JSON are asked for at a time, and so many are taken: fewer keys are asked for then.
  private static let pageBytes = 2 << 20
  private static let longestAnswer = 64 << 20

  /// - Throws: a complaint if the table does not say which etcd it mirrors.
  init(_ status: UpstreamStatus, table: String, timeout: Duration) throws {
    self.table = table
    cluster = status.cluster
    guard let contents = MirrorContents(status.contents), !contents.prefix.contains(0) else {
      throw Complaint(
        .failure, table: table,
        "its prefix cannot be an argument of etcdctl, or is of another release of shmd; compare with 'etcdctl get' by hand"
      )
    }
    self.contents = contents
    // By variables, and none that etcdctl's user has set: etcdctl ends if it finds both an option and its variable.
    var additions = [(name: "ETCDCTL_API", value: Array("3".utf8)), ("ETCDCTL_WRITE_OUT", Array("json".utf8))]
    if CommonOptions.environment("ETCDCTL_ENDPOINTS") == nil {
      additions.append(("ETCDCTL_ENDPOINTS", Array(try Self.endpoints(status, table).utf8)))
    }
    if CommonOptions.environment("ETCDCTL_COMMAND_TIMEOUT") == nil {
      additions.append(("ETCDCTL_COMMAND_TIMEOUT", Array("\(timeout.clampedNanoseconds / 1_000_000)ms".utf8)))
    }
    self.additions = additions
  }

  private static func endpoints(_ status: UpstreamStatus, _ table: String) throws -> String {
    // The prefix begins behind the slash that follows the endpoints. A long address is cut in the table, mostly in its prefix.
    guard let slash = status.address.utf8.dropFirst(8).firstIndex(of: UInt8(ascii: "/")),
      let address = try? MirrorAddress(String(status.address[...slash]))
    else {
      throw Complaint(
        .failure, table: table, "its address does not stand in it whole; set $ETCDCTL_ENDPOINTS to its etcd's endpoints"
      )
    }
    let scheme = address.isSecure ? "https" : "http"
    return address.endpoints.map { "\(scheme)://\($0)" }.joined(separator: ",")
  }

  // MARK: - Asking

  /// Where that etcd is: no change that was acknowledged to anybody before the call is newer.
  func position() throws -> Int64 {
    guard let page = try page(from: contents.prefix, at: 0, limit: 1) else { throw tooLarge }
    return page.revision
  }

  /// Hands out all below the prefix as of a revision, page by page.
  /// - Throws: `Compacted`; a complaint.
  func forEachPage(at revision: Int64, _ body: (_ page: EtcdPage, _ last: [UInt8]) -> Void) throws {
    var last = contents.prefix
    var limit = Self.firstLimit
    var tooLargeLimit = Int.max
    while true {
      // An argument ends at a zero byte: of a key with one, what is before it. Keys that were seen come again then.
      let start = Array(last.prefix { $0 != 0 })
      guard let page = try page(from: start, at: revision, limit: limit) else {
        guard limit > 1 else { throw tooLarge }
        tooLargeLimit = limit
        limit = max(1, limit / 16)
        continue
      }
      body(page, last)
      if !page.hasMore { return }
      guard let newest = page.pairs.last?.key else { throw strange("promises more keys and gives none") }
      if last.lexicographicallyPrecedes(newest) {
        (last, tooLargeLimit) = (newest, .max)
        limit = page.nextLimit(limit)
      } else {
        // Only a longer answer leads past the keys that were seen.
        limit *= 4
        guard limit < tooLargeLimit else { throw tooLarge }
      }
    }
  }

  /// - Returns: nil if the answer is longer than is taken.
  private func page(from start: [UInt8], at revision: Int64, limit: Int) throws -> EtcdPage? {
    let complaints = try Spool()
    let tool = HostTool("etcdctl", longest: Self.longestAnswer, silent: false)
    var words = ["get", "--limit", "\(limit)", "--rev", "\(revision)"].map { Array($0.utf8) }
    let end = contents.prefix.prefix(through: contents.prefix.lastIndex { $0 != 0xff } ?? -1)
    if end.isEmpty { words.append(Array("--from-key".utf8)) }
    words += [Array("--".utf8), start]
    if !end.isEmpty { words.append(end.dropLast() + [end.last! + 1]) }
    let answer: HostTool.Answer
    do {
      answer = try tool.answer(words, additions: additions, complaints: complaints.descriptor)
    } catch let error as ChildProcess.CannotStart {
      throw Complaint(
        .failure,
        error.status == 127
          ? "there is no etcdctl, by which etcd is asked; install the package etcd-client, or have it in $PATH"
          : error.message)
    }
    if answer.bytes.count > Self.longestAnswer { return nil }
    guard answer.status == 0 else { throw failure(try complaints.lastLine()) }
    guard let page = EtcdPage(answer.bytes) else { throw strange("does not answer as version 3.4 and later do") }
    guard page.cluster == cluster else {
      throw Complaint(
        .failure, table: table,
        "etcdctl reached another cluster (\(String(page.cluster, radix: 16)) instead of \(String(cluster, radix: 16))); "
          + "set $ETCDCTL_ENDPOINTS to those of the table's")
    }
    return page
  }

  // MARK: - Failures

  private func failure(_ line: String) -> any Error {
    if line.contains("required revision has been compacted") { return Compacted() }
    return Complaint(
      .failure, table: table,
      "etcdctl: \(line.isEmpty ? "failed, and says nothing" : line); endpoints, TLS and user are what $ETCDCTL_ENDPOINTS, "
        + "$ETCDCTL_CACERT, $ETCDCTL_CERT, $ETCDCTL_KEY and $ETCDCTL_USER say")
  }

  private func strange(_ what: String) -> Complaint {
    Complaint(.failure, table: table, "etcdctl \(what); see 'etcdctl version'")
  }

  private var tooLarge: Complaint {
    Complaint(
      .tooLarge, table: table, "etcd has a value of more than \(Self.longestAnswer / 4 * 3) bytes below the prefix")
  }
}

extension EtcdPage {
  /// As many keys as make a page of the size wanted, if they are as those of this one.
  fileprivate func nextLimit(_ limit: Int) -> Int {
    let bytes = pairs.reduce(0) { $0 + $1.key.count + $1.value.count }
    return max(1, min(EtcdControl.fitting(bytes: bytes, count: pairs.count), limit * 4))
  }
}

extension EtcdControl {
  fileprivate static func fitting(bytes: Int, count: Int) -> Int {
    // Base64 takes a third more, the other members about a hundred.
    min(mostKeys, pageBytes / max(1, bytes * 4 / 3 / count + 100))
  }
}

extension Spool {
  /// Of what was written to it: etcdctl says last why it has failed.
  fileprivate func lastLine() throws -> String {
    rewind()
    let bytes = try InputFile(descriptor: descriptor, name: "the temporary file").readAll(limit: 1 << 16)
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").last ?? ""
    return String(line.hasPrefix("Error: ") ? line.dropFirst(7) : line)
  }
}
