/// How much was sent to a client that it did not ask for and has not read yet. More than the most ends its connection; as much may wait in
/// its ``Outbox``.
struct UnreadBytes {
  static let most = 32 << 20

  private var count = 0

  /// - Returns: false if the client leaves too much unread.
  mutating func add(_ bytes: Int) -> Bool {
    count += bytes
    return count <= Self.most
  }

  mutating func remove(_ bytes: Int) { count -= bytes }
}
