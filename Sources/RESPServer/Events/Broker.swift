import SharedTable
import Synchronization

/// Who listens to which channels, and who caches which keys.
final class Broker: Sendable {
  private struct State {
    var channels: [[UInt8]: Listeners] = [:]
    var patterns: [[UInt8]: Listeners] = [:]
    var trackers: [Int: Tracker] = [:]
    var notifications = NotificationFlags()
  }

  private struct Listeners {
    /// Of a pattern; nil: of a channel.
    var glob: Glob?
    var clients: [Int: ClientRecord] = [:]
  }

  private struct Tracker {
    let tracking: Tracking
    let client: ClientRecord
    /// The connection that gets the messages: the client's own, or the one that it named in REDIRECT. Nil when the named one has ended.
    var target: ClientRecord?
    /// Keys that it is still to be told, with the prefix for which it is.
    var changed: [(prefix: [UInt8], keys: [[UInt8]])] = []

    /// Notes a change of a key only if the client that asked for tracking may read the key, and with REDIRECT also the client that the
    /// broker tells.
    mutating func note(_ key: [UInt8], of table: Int) {
      guard let prefix = tracking.prefix(of: key), client.mayRead(key, of: table),
        target?.mayRead(key, of: table) ?? true
      else { return }
      let place = changed.firstIndex { $0.prefix == prefix } ?? changed.count
      if place == changed.count { changed.append((prefix, [])) }
      // A key that one barrier stores twice is in the log twice in a row.
      if changed[place].keys.last != key { changed[place].keys.append(key) }
    }

    func tell(_ keys: [[UInt8]]?) {
      guard let target else { return tellOfBrokenRedirection() }
      if target.current.version == 3 {
        target.deliver(.invalidate(keys))
      } else if tracking.redirect != nil, target.current.kind == .subscriber {
        // Who listens to nothing would take it for the answer to its next command.
        target.deliver(.invalidateMessage(keys))
      }
    }

    /// The client would go on using what it has cached: nobody tells it any more what has changed.
    func tellOfBrokenRedirection() {
      if client.current.version == 3 { client.deliver(.redirectionBroken(tracking.redirect ?? 0)) }
    }
  }

  private let state = Mutex(State())
  /// Taken before `state`.
  private let adjustment = Mutex(())
  private let relays: [ChangeRelay]

  init(_ databases: [Database]) { relays = databases.map(ChangeRelay.init) }

  // MARK: - Channels

  func subscribe(_ client: ClientRecord, to channel: [UInt8], isPattern: Bool) {
    state.withLock { state in
      if isPattern {
        // The default is evaluated for the first client alone: the others find the pattern made ready.
        state.patterns[
          channel, default: Listeners(glob: Glob(channel, longest: Subscriptions.longestChannel))
        ].clients[client.id] = client
      } else {
        state.channels[channel, default: Listeners()].clients[client.id] = client
      }
    }
  }

  func unsubscribe(_ client: ClientRecord, from channel: [UInt8], isPattern: Bool) {
    state.withLock { state in
      func remove(_ listeners: inout [[UInt8]: Listeners]) {
        listeners[channel]?.clients[client.id] = nil
        if listeners[channel]?.clients.isEmpty == true { listeners[channel] = nil }
      }
      if isPattern { remove(&state.patterns) } else { remove(&state.channels) }
    }
  }

  /// Something that a client is to be sent.
  struct Delivery {
    let client: ClientRecord
    let push: ClientRecord.Push

    func deliver() { client.deliver(push) }
  }

  /// Sends a message.
  /// - Parameter change: the key of which the message tells. The broker leaves out clients that may not read it.
  func publish(_ message: [UInt8], on channel: [UInt8], of change: (key: [UInt8], table: Int)) {
    for delivery in deliveries(of: message, on: channel) where delivery.client.mayRead(change.key, of: change.table) {
      delivery.deliver()
    }
  }

  /// A message to each who listens, which the caller sends.
  func deliveries(of message: [UInt8], on channel: [UInt8]) -> [Delivery] {
    let (direct, patterns) = state.withLock { state in (state.channels[channel]?.clients ?? [:], state.patterns) }
    var told = direct.values.map { Delivery(client: $0, push: .message(channel: channel, message)) }
    // Without the lock: many patterns and a long channel take tenths of a second, and everybody who listens or publishes needs it.
    for (pattern, listeners) in patterns where listeners.glob?.matches(channel) == true {
      told += listeners.clients.values.map {
        Delivery(client: $0, push: .patternMessage(pattern: pattern, channel: channel, message))
      }
    }
    return told
  }

  /// Whether a client that gets its answers in RESP2 still expects a message. What has been on its way to one that has ended its subscription
  /// meanwhile would be taken for the answer to its next command.
  func isExpected(_ push: ClientRecord.Push, by client: ClientRecord) -> Bool {
    switch push {
    case .message(let channel, _): state.withLock { $0.channels[channel]?.clients[client.id] != nil }
    case .patternMessage(let pattern, _, _): state.withLock { $0.patterns[pattern]?.clients[client.id] != nil }
    case .invalidateMessage: client.current.kind == .subscriber
    case .invalidate, .redirectionBroken: true
    }
  }

  func channels(matching glob: Glob?) -> [[UInt8]] {
    state.withLock { state in state.channels.keys.filter { glob?.matches($0) ?? true } }
  }

  func listeners(of channel: [UInt8]) -> Int { state.withLock { $0.channels[channel]?.clients.count ?? 0 } }
  var patternCount: Int { state.withLock { $0.patterns.count } }
  var channelCount: Int { state.withLock { $0.channels.count } }

  /// The connection has ended.
  ///
  /// Clients that named it in REDIRECT are told at once. What was on its way to it is lost: a client that were told only of the next
  /// change would use what it has cached until then.
  /// - Parameter subscriptions: the client's. The broker looks at no others: there may be millions, and who publishes waits for its lock.
  func forget(_ client: ClientRecord, _ subscriptions: Subscriptions) {
    for isPattern in [false, true] {
      for name in subscriptions.names(arePatterns: isPattern) { unsubscribe(client, from: name, isPattern: isPattern) }
    }
    let broken = state.withLock { state in
      state.trackers[client.id] = nil
      let broken = state.trackers.filter { $0.value.target === client }
      for id in broken.keys { state.trackers[id]!.target = nil }
      return broken.values
    }
    for tracker in broken { tracker.tellOfBrokenRedirection() }
    adjustRelays()
  }

  // MARK: - Changes of tables

  func setNotifications(_ flags: NotificationFlags) {
    state.withLock { $0.notifications = flags }
    adjustRelays()
  }

  /// - Parameter target: who is told: the client, or the one that it named.
  func track(_ tracking: Tracking?, for client: ClientRecord, target: ClientRecord) {
    state.withLock {
      let changed = $0.trackers[client.id]?.changed ?? []
      $0.trackers[client.id] = tracking.map {
        Tracker(tracking: $0, client: client, target: target, changed: changed)
      }
    }
    adjustRelays()
  }

  /// Whether the client that it named to be told is gone.
  func isRedirectionBroken(_ client: ClientRecord) -> Bool {
    state.withLock { state in state.trackers[client.id].map { $0.target == nil } ?? false }
  }

  /// The logs of the tables are read while somebody wants to know what is in them.
  ///
  /// Under a lock of its own: of two threads that come here at once, the one that looked first could else stop what the other has begun,
  /// and nobody would tell that one's client of any change.
  private func adjustRelays() {
    adjustment.withLock { _ in
      let isWanted = state.withLock { $0.notifications.isOn || !$0.trackers.isEmpty }
      for relay in relays { isWanted ? relay.start(self) : relay.stop() }
    }
  }

  /// Has the logs read of tables that were not there when somebody began to listen. For a clock.
  func awaitTables() {
    for relay in relays where relay.isWaiting { relay.start(self) }
  }

  func stop() {
    for relay in relays { relay.stop() }
  }

  /// Publishes a change at once, and notes it for who caches; ``tellTrackers()`` tells them.
  func tell(_ change: TableChange, of database: Database) {
    guard let key = change.key else { return tellTrackersOfLoss() }
    let flags = state.withLock { state in
      // Of the keys alone: `keys` itself would hold the trackers, and each change would copy them all.
      for id in Array(state.trackers.keys) { state.trackers[id]!.note(key, of: database.index) }
      return state.notifications
    }
    let (event, letter): (String, Character) = if case .set = change { ("set", "$") } else { ("del", "g") }
    guard flags.admits(letter) else { return }
    if flags.keyspace {
      publish(
        Array(event.utf8), on: ReservedChannel.keyspace(database.index, key), of: (key, database.index))
    }
    if flags.keyevent {
      publish(key, on: ReservedChannel.keyevent(database.index, event), of: (key, database.index))
    }
  }

  /// One message a prefix with all keys that have changed.
  func tellTrackers() {
    for tracker in takeTrackers() {
      for (_, keys) in tracker.changed { tracker.tell(keys) }
    }
  }

  /// Changes were missed, of whatever keys: who caches is to forget everything.
  private func tellTrackersOfLoss() {
    for tracker in takeTrackers() { tracker.tell(nil) }
  }

  /// With what they are to be told, which is then told.
  private func takeTrackers() -> [Tracker] {
    state.withLock { state in
      let trackers = Array(state.trackers.values)
      for id in Array(state.trackers.keys) { state.trackers[id]!.changed = [] }
      return trackers
    }
  }
}
