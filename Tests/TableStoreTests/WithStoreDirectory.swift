import CFaultyDisk
import Glibc
import SharedTable
import TableEngine
import TableStore
import TestSupport
import Testing

/// A directory of a test's own, for stores; it goes with the test.
func withDirectory<R>(_ body: (StoreDirectory) throws -> R) throws -> R {
  let path = try newDirectory()
  defer { removeTree(path) }
  return try body(StoreDirectory(path))
}

func withDirectory<R>(_ body: (StoreDirectory) async throws -> R) async throws -> R {
  let path = try newDirectory()
  defer { removeTree(path) }
  return try await body(StoreDirectory(path))
}

private func newDirectory() throws -> String {
  var template = Array("/tmp/store-test-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw StoreFailure("mkdtemp: error \(errno)") }
  return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

struct StoreFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

func removeTree(_ path: String) {
  for name in names(in: path) {
    let inner = "\(path)/\(name)"
    if unlink(inner) != 0 { removeTree(inner) }
  }
  rmdir(path)
}

func names(in path: String) -> [String] {
  guard let stream = opendir(path) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// All that a table holds: bytes, type, version and expiry of each key.
func contents(_ table: Table) throws -> [String: TableEntry] {
  try table.read { view in
    var entries: [String: TableEntry] = [:]
    for key in try view.keys() { entries[String(decoding: key, as: UTF8.self)] = try view.entry(forKey: key) }
    return entries
  }
}

/// Takes a table's name away, as a reboot does, and makes it anew from its store.
func rebooted(
  _ name: String, from directory: StoreDirectory, _ options: Table.Options = .init(capacityBytes: 16 << 20)
) throws -> Table? {
  removeObjects(ofTable: name)
  return try Table.restore(name, options, from: directory)
}

/// Closes the store of a table, and expects that after a reboot it brings back what the table holds now.
func expectAReboot(
  bringsBack table: Table, closing follower: Follower, from directory: StoreDirectory,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let before = try contents(table)
  follower.close()
  let back = try #require(try rebooted(table.name, from: directory), sourceLocation: sourceLocation)
  #expect(try contents(back) == before, sourceLocation: sourceLocation)
}

/// One test at a time uses the faulty disk: its plan is the process's.
func storeError<R>(_ body: () throws -> R) -> StoreError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? StoreError
  }
}
