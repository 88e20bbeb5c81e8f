#if Etcd
  import EtcdMessages
  import FoundationEssentials
  import UpstreamWrites

  /// A commit as etcd takes it, and what its answer means.
  struct EtcdTransaction {
    let request: Etcdserverpb_TxnRequest

    init(_ commit: UpstreamCommit, prefix: [UInt8]) {
      let range = EtcdRange(prefix: prefix)
      request = .with {
        $0.compare = Self.sorted(commit.premises).flatMap { key, isPresent in
          Self.comparisons(Data(prefix + key), isPresent, commit.revision)
        }
        $0.success = Self.operations(commit, prefix, range)
        // A transaction of comparisons alone would be answered by the member from what it has.
        if $0.success.isEmpty { $0.success = [Self.look(range)] }
      }
    }

    /// In their order, so that the same commit is the same request.
    private static func sorted<Value>(_ values: [[UInt8]: Value]) -> [(key: [UInt8], value: Value)] {
      values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// They hold if the key is over there what the table showed. A key that it did not show must not be there, whenever it was written:
    /// one with a lease may have expired in the table and live over there. For one that it showed, no client may have written it since
    /// the revision; and as a key that was removed since has modification revision 0, it must be there, too.
    private static func comparisons(_ key: Data, _ isPresent: Bool, _ revision: Int64) -> [Etcdserverpb_Compare] {
      let presence = Etcdserverpb_Compare.with {
        $0.key = key
        ($0.target, $0.result, $0.createRevision) = (.create, isPresent ? .greater : .equal, 0)
      }
      guard isPresent else { return [presence] }
      let isUnchanged = Etcdserverpb_Compare.with {
        $0.key = key
        ($0.target, $0.result, $0.modRevision) = (.mod, .less, revision + 1)
      }
      return [isUnchanged, presence]
    }

    private static func operations(
      _ commit: UpstreamCommit, _ prefix: [UInt8], _ range: EtcdRange
    ) -> [Etcdserverpb_RequestOp] {
      let changes = sorted(commit.changes).map { (key: prefix + $0.key, value: $0.value) }
      // etcd takes no key twice: what is stored lies in none of the ranges that are removed.
      let removed = commit.removesOthers ? range.between(changes.map(\.key)) : []
      return removed.map { start, end in
        .with { $0.requestDeleteRange = .with { ($0.key, $0.rangeEnd) = (start, end) } }
      }
        + changes.map { key, value in
          .with { operation in
            if let value {
              operation.requestPut = .with { ($0.key, $0.value) = (Data(key), Data(value)) }
            } else {
              operation.requestDeleteRange = .with { $0.key = Data(key) }
            }
          }
        }
    }

    private static func look(_ range: EtcdRange) -> Etcdserverpb_RequestOp {
      .with {
        $0.requestRange = .with {
          $0.key = range.start
          $0.countOnly = true
          $0.limit = 1
        }
      }
    }

    static func outcome(_ answer: Etcdserverpb_TxnResponse) -> UpstreamCommit.Outcome {
      guard answer.succeeded else { return .conflict }
      // Removing what is not there makes no revision: the header's is somebody else's then.
      let hasChanged = answer.responses.contains { response in
        switch response.response {
        case .responsePut: true
        case .responseDeleteRange(let removed): removed.deleted > 0
        default: false
        }
      }
      return .made(revision: hasChanged ? answer.header.revision : nil)
    }
  }
#endif
