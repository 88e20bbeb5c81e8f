/// What happens to a mirror, for a log.
public enum MirrorNews: Sendable, Equatable {
  case following(peer: String, revision: Int64)
  case away(String)
  case stopped(String)
  /// The whole prefix was read; so many keys were not in the table as they are over there.
  case read(revision: Int64, keys: Int, stored: Int, removed: Int)
  /// The store is not the one that the table was of; it is read anew, as the settings allow.
  case otherStore(String)
}
