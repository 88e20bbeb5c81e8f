import Glibc
import SharedMemory
import Synchronization

// Names say whose they are: the PID namespace, the process and a number. So a later run can remove what a killed one
// left behind, and nobody removes what a running one uses.
private let namespace = try? ProcessIdentity.pidNamespace()
private let prefix = "test-\(namespace ?? 0)-"
private let counter = Atomic(0)

/// A table name that no other test uses, now or in parallel.
public func uniqueTableName() -> String {
  "\(prefix)\(ProcessIdentity.pid)-\(counter.add(1, ordering: .relaxed).newValue)"
}

/// Removes the objects of a table whose name `uniqueTableName` made. Nothing else is ever removed.
public func removeObjects(ofTable name: String) {
  precondition(name.hasPrefix(prefix), "not a test's name: \(name)")
  for object in ["shmtable.\(name).data", "shmtable.\(name).ctl"] { removeObject(object) }
}

/// Also a directory that a test has put in the name's place.
private func removeObject(_ name: String) { remove("/dev/shm/\(name)") }

/// Runs `body` with a fresh table name and removes the table's objects afterwards, however it ends.
public func withTableName<R>(_ body: (String) throws -> R) rethrows -> R {
  removeLeftOvers
  let name = uniqueTableName()
  defer { removeObjects(ofTable: name) }
  return try body(name)
}

public func withTableName<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
) async rethrows -> R {
  removeLeftOvers
  let name = uniqueTableName()
  defer { removeObjects(ofTable: name) }
  return try await body(name)
}

/// The same with the name of a single object that does not exist yet.
public func withObjectName<R>(_ body: (String) throws -> R) rethrows -> R {
  removeLeftOvers
  let name = "shmtable.\(uniqueTableName()).data"
  defer { removeObject(name) }
  return try body(name)
}

/// Once a process: what earlier test processes, killed since, could not remove.
private let removeLeftOvers: Void = {
  // Without a namespace the number of a process says nothing.
  guard namespace != nil else { return }
  let start = "shmtable.\(prefix)"
  for object in (try? SharedObject.list(prefix: start)) ?? [] {
    guard let pid = Int32(object.dropFirst(start.count).prefix { $0.isNumber }), !ProcessIdentity.isAlive(pid: pid)
    else { continue }
    removeObject(object)
  }
}()
