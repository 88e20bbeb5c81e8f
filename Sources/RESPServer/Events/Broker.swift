import SharedTable
import Synchronization

/// Who listens to which channels, and who caches which keys.
final class Broker: Sendable {
  private struct State {
    var channels: [[UInt8]: [Int: ClientRecord]] = [:]
    var patterns: [[UInt8]: [Int: ClientRecord]] = [:]
    var trackers: [Int: Tracker] = [:]
    var notifications = NotificationFlags()
  }

  private struct Tracker {
    let tracking: Tracking
    let target: ClientRecord
    /// Whether it is told as RESP3 tells it.
    let isPush: Bool
  }

  private let state = Mutex(State())
  private let relays: [ChangeRelay]

  init(_ databases: [Database]) { relays = databases.map(ChangeRelay.init) }

  // MARK: - Channels

  func subscribe(_ client: ClientRecord, to channel: [UInt8], isPattern: Bool) {
    state.withLock { state in
      if isPattern {
        state.patterns[channel, default: [:]][client.id] = client
      } else {
        state.channels[channel, default: [:]][client.id] = client
      }
    }
  }

  func unsubscribe(_ client: ClientRecord, from channel: [UInt8], isPattern: Bool) {
    state.withLock { state in
      func remove(_ listeners: inout [[UInt8]: [Int: ClientRecord]]) {
        listeners[channel]?[client.id] = nil
        if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
      }
      if isPattern { remove(&state.patterns) } else { remove(&state.channels) }
    }
  }

  /// - Returns: how many were told.
  @discardableResult
  func publish(_ message: [UInt8], on channel: [UInt8]) -> Int {
    let told = state.withLock { state in
      var told = (state.channels[channel] ?? [:]).values.map {
        ($0, ClientRecord.Push.message(channel: channel, message))
      }
      for (pattern, listeners) in state.patterns where Glob.matches(pattern, channel) {
        told += listeners.values.map { ($0, .patternMessage(pattern: pattern, channel: channel, message)) }
      }
      return told
    }
    for (client, push) in told { client.deliver(push) }
    return told.count
  }

  func channels(matching pattern: [UInt8]?) -> [[UInt8]] {
    state.withLock { state in
      state.channels.keys.filter { channel in pattern.map { Glob.matches($0, channel) } ?? true }
    }
  }

  func listeners(of channel: [UInt8]) -> Int { state.withLock { $0.channels[channel]?.count ?? 0 } }
  var patternCount: Int { state.withLock { $0.patterns.count } }
  var channelCount: Int { state.withLock { $0.channels.count } }

  /// The connection has ended.
  func forget(_ client: ClientRecord) {
    state.withLock { state in
      func remove(_ listeners: inout [[UInt8]: [Int: ClientRecord]]) {
        for channel in Array(listeners.keys) where listeners[channel]?[client.id] != nil {
          listeners[channel]?[client.id] = nil
          if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
        }
      }
      let settings = client.current
      if settings.subscriptions.channels > 0 { remove(&state.channels) }
      if settings.subscriptions.patterns > 0 { remove(&state.patterns) }
      state.trackers[client.id] = nil
    }
    adjustRelays()
  }

  // MARK: - Changes of tables

  func setNotifications(_ flags: NotificationFlags) {
    state.withLock { $0.notifications = flags }
    adjustRelays()
  }

  /// - Parameter target: who is told: the client, or the one that it named.
  func track(_ tracking: Tracking?, for client: ClientRecord, target: ClientRecord) {
    let isPush = target.current.version == 3
    state.withLock {
      $0.trackers[client.id] = tracking.map { Tracker(tracking: $0, target: target, isPush: isPush) }
    }
    adjustRelays()
  }

  /// The logs of the tables are read while somebody wants to know what is in them.
  private func adjustRelays() {
    let isWanted = state.withLock { $0.notifications.isOn || !$0.trackers.isEmpty }
    for relay in relays { isWanted ? relay.start(self) : relay.stop() }
  }

  func stop() {
    for relay in relays { relay.stop() }
  }

  /// Nil: changes were missed, of whatever keys.
  func tell(_ change: TableChange, of database: Database) {
    let (flags, trackers) = state.withLock { ($0.notifications, Array($0.trackers.values)) }
    let key = change.key
    for tracker in trackers where key.map(tracker.tracking.admits) ?? true {
      tracker.target.deliver(tracker.isPush ? .invalidate(key) : .invalidateMessage(key))
    }
    guard let key else { return }
    let (event, letter): (String, Character) = if case .set = change { ("set", "$") } else { ("del", "g") }
    guard flags.admits(letter) else { return }
    if flags.keyspace {
      publish(Array(event.utf8), on: Array("__keyspace@\(database.index)__:".utf8) + key)
    }
    if flags.keyevent {
      publish(key, on: Array("__keyevent@\(database.index)__:\(event)".utf8))
    }
  }
}
