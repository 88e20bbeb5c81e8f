enum ReadCommand: Sendable {
  case get, mget, strlen, getrange, lcs
  case exists, touch, keys, scan, randomkey, type, ttl, pttl, expiretime, pexpiretime

  /// Whether it may take long by itself: in a large table, or (LCS, which reads two keys) with long values.
  var mayTakeLong: Bool {
    switch self {
    case .keys, .scan, .randomkey, .lcs: true
    default: false
    }
  }
}
