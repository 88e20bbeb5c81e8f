public import Observation
public import SharedTable
import Synchronization

/// A value of a table as an object of Swift's Observation: code that has read `value` under `withObservationTracking`, or in
/// `Observations`, is told when any process on the host has changed it.
///
/// ```swift
/// let limit = try ObservableValue(SharedValue("limit", in: table, default: 100))
/// for await limit in Observations({ limit.value }) { apply(limit) }
/// ```
/// `value` is the newest that was told, like the elements of ``SharedTable/SharedValue/updates``: a copy in memory, so to read it is cheap, never
/// waits and never throws. It is the last one to be told that counts: of changes that follow each other quickly some may be
/// passed over, and never the last, which is told a second time after some milliseconds. Two reads in a row may differ. To look at the table as of now, ask the table.
///
/// The object follows the table as long as it lives, by one task, which suspends and blocks no thread; changes are told on Swift's pool,
/// outside of every section and lock. ``failure`` says why it has stopped to follow. In a child of `fork()` it follows no more, and must not be read: if
/// another thread of the parent was just telling it, its lock stays taken there.
public final class ObservableValue<Value: Sendable>: Observable, Sendable {
  private struct State {
    var value: Value
    var failure: TableError?
    /// How often one of the two was told.
    var count: UInt64 = 0
    /// Somebody will tell the last one again.
    var isToBeRepeated = false
    /// What has changed and was not told yet.
    var untold: Members = []
    /// A task tells what is untold.
    var isTelling = false

    /// By the task that tells; nil: it is done.
    mutating func nextToTell() -> Members? {
      defer { untold = [] }
      isTelling = !untold.isEmpty
      return isTelling ? untold : nil
    }
  }

  struct Members: OptionSet {
    let rawValue: Int
    static var value: Self { Self(rawValue: 1) }
    static var failure: Self { Self(rawValue: 2) }
  }

  /// When the last change is told once more. Observation first runs the code that reads, and listens after that: of a change between the two it
  /// hears nothing, and no later one may come.
  private static var repeatInterval: Duration { .milliseconds(50) }

  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let following = Mutex<Task<Void, Never>?>(nil)

  /// The newest value that was told; at first that of when the object was made.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return state.withLock { $0.value }
  }

  /// Why the object has stopped to follow the table, for which `value` is the last one; nil while it follows. `unlinked` once the
  /// table is dropped, `typeMismatch` after a value of another type: what ends ``SharedTable/Table/updates(forKey:as:)``.
  public var failure: TableError? {
    registrar.access(self, keyPath: \.failure)
    return state.withLock { $0.failure }
  }

  /// Follows a shared value. Reads it, which waits only in the rwlock variant.
  /// - Throws: what reading it throws.
  public convenience init(_ shared: SharedValue<Value>) throws(TableError) where Value: TableValue {
    let defaultValue = shared.defaultValue
    try self.init(shared.name, in: shared.table) { (stored: Value?) in stored ?? defaultValue }
  }

  /// Follows a counter.
  /// - Throws: what ``init(_:)`` throws.
  public convenience init(_ counter: SharedCounter) throws(TableError) where Value == Int {
    try self.init(counter.name, in: counter.table) { (stored: Int?) in stored ?? 0 }
  }

  /// Follows a key of a table; nil stands for an absent or expired value.
  /// - Parameters:
  ///   - key: 1 to 65,536 bytes.
  ///   - type: of the value.
  /// - Throws: what `get` throws.
  public convenience init<Stored: TableValue>(
    _ key: some TableKey, as type: Stored.Type = Stored.self, in table: Table
  ) throws(TableError) where Value == Stored? {
    try self.init(key, in: table) { (stored: Stored?) in stored }
  }

  /// Follows an element of a dictionary; nil stands for an absent or expired one.
  /// - Throws: what reading it throws.
  public convenience init<Key, Element>(
    _ key: Key, in dictionary: SharedDictionary<Key, Element>
  ) throws(TableError) where Value == Element? {
    self.init(try dictionary.valueAndUpdates(forKey: key)) { $0 }
  }

  private convenience init<Stored: TableValue>(
    _ key: some TableKey, in table: Table, _ shown: @escaping @Sendable (Stored?) -> Value
  ) throws(TableError) {
    self.init(try table.valueAndUpdates(forKey: key, as: Stored.self), shown)
  }

  private init<Stored: TableValue>(
    _ found: (value: Stored?, updates: TableUpdates<Stored>), _ shown: @escaping @Sendable (Stored?) -> Value
  ) {
    state = Mutex(State(value: shown(found.value)))
    let updates = found.updates
    // It holds the object only while it tells: else neither would end.
    let task = Task.detached { [weak self] in
      do throws(TableError) {
        for try await stored in updates { self?.tell(shown(stored)) }
      } catch {
        self?.tell(error)
      }
    }
    following.withLock { $0 = task }
  }

  deinit { following.withLock { $0?.cancel() } }

  // The task stores before it tells: an observer that is told may read in another thread at once, and must find the new value.

  private func tell(_ value: Value) {
    // The one before is let go without the lock: its end may run anything.
    var value = value
    tell(.value) { swap(&$0.value, &value) }
  }

  private func tell(_ failure: TableError) {
    tell(.failure) { $0.failure = failure }
  }

  private func tell(_ member: Members, _ change: (inout sending State) -> Void) {
    let isRepeated = state.withLock { state in
      change(&state)
      state.count += 1
      defer { state.isToBeRepeated = true }
      return state.isToBeRepeated
    }
    announce(member)
    if !isRepeated { repeatLater() }
  }

  /// Tells of changes, or leaves it to the task that is just telling. Never two at a time: Observation would call an observer once for
  /// each, though it has asked to be told once. An observer that asks anew whenever it is told would become two, then four, and so on.
  func announce(_ members: Members) {
    let tells = state.withLock { state in
      state.untold.formUnion(members)
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard tells else { return }
    while let members = state.withLock({ $0.nextToTell() }) {
      if members.contains(.value) { registrar.withMutation(of: self, keyPath: \.value) {} }
      if members.contains(.failure) { registrar.withMutation(of: self, keyPath: \.failure) {} }
    }
  }

  /// Tells the last change again once none has come for a while; at most one task an object.
  private func repeatLater() {
    Task.detached { [weak self] in
      var hasSettled = false
      while !hasSettled {
        guard let before = self?.state.withLock({ $0.count }) else { return }
        try? await Task.sleep(for: Self.repeatInterval)
        guard let self else { return }
        let members = state.withLock { state -> Members in
          hasSettled = state.count == before
          if hasSettled { state.isToBeRepeated = false }
          return state.failure == nil ? .value : [.value, .failure]
        }
        announce(members)
      }
    }
  }
}
