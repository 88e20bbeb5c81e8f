#if Etcd
  import TableMirror

  extension LeaseTTL {
    /// The longest lease that etcd grants: 285 years, which fit into nanoseconds.
    private static let longestSeconds: Int64 = 9_000_000_000

    /// - Parameter seconds: the TTL of an answer. Whole seconds, and what is beyond them is cut off; below zero: etcd does not know the lease. A
    ///   leader that has just been elected gives its leases no end for a moment, and releases up to 3.4.31 and 3.5.13 then answer the largest number
    ///   of seconds that nanoseconds have room for (etcd#17642). To believe that would keep the lease's keys for ever.
    init(etcdSeconds seconds: Int64) {
      if seconds < 0 {
        self = .isUnknown
      } else if seconds > Self.longestSeconds {
        self = .cannotBeToldNow
      } else {
        self = .lasts(.seconds(seconds + 1))
      }
    }
  }
#endif
