import SharedTable
import Synchronization

// What the page of this name shows. scripts/tidy.sh looks that it does.

// MARK: - With a lock

@propertyWrapper
final class ThreadSafe<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(wrappedValue: Value) { value = Mutex(wrappedValue) }

  var wrappedValue: Value {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

final class Requests: @unchecked Sendable {
  // Sendable because each property's wrapper locks.
  @ThreadSafe private var served = 0
  @ThreadSafe private var lastPath = ""

  func serve(_ path: String) {
    served += 1  // get, add, set: two threads may both store the same sum
    lastPath = path
  }

  var summary: String { "\(served), last \(lastPath)" }  // of two moments
}

// MARK: - With a table

struct HostRequests: Sendable {
  @Shared private var served: Int
  @Shared private var lastPath: String
  private let table: Table

  init(_ table: Table) {
    self.table = table
    _served = Shared(wrappedValue: 0, "served", in: table)
    _lastPath = Shared(wrappedValue: "", "last-path", in: table)
  }

  func serve(_ path: String) throws {
    try table.barrier { tx in  // both at once
      try $served.increment(by: 1, in: &tx)
      try $lastPath.set(path, in: &tx)
    }
  }

  func serveAlone() throws { try $served += 1 }  // one barrier: no sum is lost

  var count: Int { served }  // a read, as the property's name says

  var summary: String {
    get throws {
      try table.read { view in "\(try $served.value(in: view)), last \(try $lastPath.value(in: view))" }
    }
  }
}
