import Synchronization

/// How many bytes of what clients have sent the server holds, for all connections together.
///
/// A connection has bounds of its own, which are as wide as one long value needs: ten thousand connections at them would have all memory
/// of the host. Beyond the sum the client of which the server holds most is ended: it is the one that has caused the need, and others,
/// which hold little, go on.
final class HeldBytes: Sendable {
  private struct State {
    var byClient: [Int: Int] = [:]
    var sum = 0

    mutating func set(_ bytes: Int, of client: Int) {
      sum += bytes - (byClient[client] ?? 0)
      byClient[client] = bytes == 0 ? nil : bytes
    }
  }

  private let most: Int
  private let state = Mutex(State())

  init(most: Int) { self.most = most }

  /// Notes how many bytes of a client are held.
  /// - Returns: the number of the client that is to be ended, which counts no more; nil if there is room for all.
  func note(_ bytes: Int, of client: Int) -> Int? {
    state.withLock { state in
      state.set(bytes, of: client)
      guard state.sum > most, let largest = state.byClient.max(by: { $0.value < $1.value }) else { return nil }
      state.set(0, of: largest.key)
      return largest.key
    }
  }

  /// The client's connection has ended.
  func forget(_ client: Int) { state.withLock { $0.set(0, of: client) } }
}
