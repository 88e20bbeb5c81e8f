import Glibc
import SharedTable
import TestSupport
import Testing

@testable import TableStore

/// Who may read what is stored.
@Suite struct FileRightsTests {
  private func modes(_ directory: StoreDirectory) -> [String: UInt32] {
    Dictionary(
      uniqueKeysWithValues: names(in: directory.path).map { name in
        var status = stat()
        return stat("\(directory.path)/\(name)", &status) == 0 ? (name, status.st_mode & 0o777) : (name, 0)
      })
  }

  /// Values of a table with mode 0600 must not be everybody's on the disk.
  @Test func aStoreIsItsOwnersAlone() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        let file = "\(name).1.sqlite"
        let ownersAlone = [file: UInt32(0o600), file + "-wal": 0o600]
        func store(_ value: Int) throws {
          try table.set("k", value)
          var loop = StoreLoop(table, directory)
          _ = loop.step(.everyBarrier)
          #expect(table.durableVersion == table.version)
          #expect(modes(directory) == ownersAlone, "\(modes(directory))")
          loop.close()
        }
        try store(1)
        // As an earlier release, or somebody who copied it there, has left it.
        #expect(chmod("\(directory.path)/\(file)", 0o644) == 0)
        try store(2)
        #expect(try contents(try #require(try rebooted(name, from: directory))).count == 1)
      }
    }
  }
}
