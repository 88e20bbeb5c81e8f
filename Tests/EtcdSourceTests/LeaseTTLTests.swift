#if Etcd
  import TableMirror
  import Testing

  @testable import EtcdSource

  /// What an answer of etcd says of a lease, without a server.
  @Suite struct LeaseTTLTests {
    @Test(
      arguments: [
        (-1, .isUnknown), (0, .lasts(.seconds(1))), (10, .lasts(.seconds(11))),
        (9_000_000_000, .lasts(.seconds(9_000_000_001))),
        // Of a leader that was just elected.
        (9_223_372_036, .cannotBeToldNow), (.max, .cannotBeToldNow),
      ] as [(Int64, LeaseTTL)])
    func anAnswerThatNoLeaseCanHaveIsNone(seconds: Int64, ttl: LeaseTTL) {
      #expect(LeaseTTL(etcdSeconds: seconds) == ttl)
    }
  }
#endif
