public import Synchronization

/// A ``SharedValue`` as a property.
///
/// ```swift
/// @Shared("hits", in: table) var hits = 0
///
/// try $hits += 1                 // one barrier: no update is lost
/// try $hits.mutate { $0 *= 2 }
/// print(hits)
/// ```
/// The property itself can only be read. A setter would make `hits = hits + 1` compile, which loses whatever others
/// wrote in between; an accessor that keeps a barrier open around `hits += 1` brings that setter with it, and cannot
/// throw, while a barrier can fail. So changes go by way of `$hits`, a ``SharedValue``, and say `try`.
///
/// For the same reason a read of `hits` cannot throw: where the value cannot be read just now it is the last one that
/// this property has read, at first the default, and ``failure`` says why. `try $hits.value` throws instead. A read
/// waits as `table.get` does. In a child made by `fork()` it is the default, and `failure` is `forked`.
@propertyWrapper
public struct Shared<Value: TableValue>: Sendable {
  @usableFromInline let value: SharedValue<Value>
  @usableFromInline let memory: Memory

  /// Names the value; reads and writes nothing yet. Traps for a name that cannot be: see ``SharedValue/init(_:in:default:)``, which
  /// throws instead.
  /// - Parameters:
  ///   - wrappedValue: what it is while the table has none; not stored.
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - table: where it lies.
  public init(wrappedValue: Value, _ name: String, in table: Table) {
    do throws(TableError) {
      value = try SharedValue(name, in: table, default: wrappedValue)
    } catch {
      preconditionFailure("\(error)")
    }
    memory = Memory(wrappedValue)
  }

  /// The value, or the last one that could be read.
  @inlinable
  public var wrappedValue: Value {
    do throws(TableError) {
      return memory.note(try value.value)
    } catch {
      return memory.note(error)
    }
  }

  /// The value itself, for changes: `try $hits += 1`.
  public var projectedValue: SharedValue<Value> { value }

  /// Why the last read of the property found no value; nil if it did. `_hits.failure` where the property is declared.
  public var failure: TableError? {
    let table = value.table
    return table.isOfThisProcess ? memory.state.withLock { $0.failure } : table.named(.forked)
  }

  @usableFromInline
  final class Memory: Sendable {
    @usableFromInline
    struct State {
      @usableFromInline var last: Value
      @usableFromInline var failure: TableError?

      init(last: Value) { self.last = last }
    }
    @usableFromInline let state: Mutex<State>
    private let defaultValue: Value

    init(_ value: Value) {
      state = Mutex(State(last: value))
      defaultValue = value
    }

    @inlinable
    func note(_ value: Value) -> Value {
      // The one before is let go without the lock: its end may run anything.
      var last = value
      state.withLock { state in
        swap(&state.last, &last)
        if state.failure != nil { state.failure = nil }
      }
      return value
    }

    @usableFromInline
    func note(_ failure: TableError) -> Value {
      // In a child another thread of the parent may have held the lock, and it is not there.
      if failure.code == .forked { return defaultValue }
      return state.withLock { state in
        state.failure = failure
        return state.last
      }
    }
  }
}
