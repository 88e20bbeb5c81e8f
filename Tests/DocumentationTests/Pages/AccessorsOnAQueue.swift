import Dispatch
import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

// MARK: - With GCD

final class Protected<Value: Sendable>: @unchecked Sendable {
  // Sendable because `value` is only touched on the queue, and changed in its barriers.
  private let queue: DispatchQueue
  private var value: Value

  /// - Parameter queue: a concurrent one, which several values may share.
  init(_ value: Value, on queue: DispatchQueue) {
    self.value = value
    self.queue = queue
  }

  func read<R>(_ body: (Value) throws -> R) rethrows -> R { try queue.sync { try body(value) } }

  func change<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    try queue.sync(flags: .barrier) { try body(&value) }
  }

  func changeLater(_ body: @escaping @Sendable (inout Value) -> Void) {
    queue.async(flags: .barrier) { body(&self.value) }
  }
}

struct Shelf: Sendable {
  let stock: Protected<Int>
  let orders: Protected<[UInt8]>

  init() {
    let queue = DispatchQueue(label: "org.example.shelf", attributes: .concurrent)
    stock = Protected(100, on: queue)
    orders = Protected([], on: queue)
  }

  func order(_ number: UInt8) {
    stock.changeLater { $0 -= 1 }
    orders.changeLater { $0.append(number) }  // a reader may come in between
  }

  var left: Int { stock.read { $0 } }
}

// MARK: - With a table

struct HostShelf: Sendable {
  let queue: BarrierQueue
  let stock: Guarded<Int>
  let orders: Guarded<[UInt8]>

  init(_ table: Table) throws {
    queue = try BarrierQueue(in: table, label: "org.example.shelf")
    stock = Guarded("stock", in: table, default: 100)
    orders = Guarded("orders", in: table, default: [])
  }

  func order(_ number: UInt8) throws {
    let take = stock.accessor { $0 -= 1 }
    let note = orders.accessor { $0.append(number) }
    try take.zip(note).map { _ in }.accessAsync(on: queue)  // one barrier: both or neither
  }

  var left: Int { get throws { try stock.accessor { $0 }.accessSync(on: queue) } }
}
