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

  /// What others put there would be taken for a store.
  @Test func nothingIsStoredWhereOthersMayWrite() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        for (mode, isFine) in [(mode_t(0o777), false), (0o1777, false), (0o720, false), (0o702, false), (0o755, true)] {
          #expect(chmod(directory.path, mode) == 0)
          #expect(directory.obstacle?.code == (isFine ? nil : .foreign))
          #expect(storeError { try Follower(table, in: directory).sync() }?.code == (isFine ? nil : .foreign))
          #expect(storeError { try rebooted(name, from: directory) }?.code == (isFine ? nil : .foreign))
        }
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to give files away"))
  func onlyWhatTheDaemonOrRootOwnsIsAStore() throws {
    let user: uid_t = 54_322
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        try table.set("k", "planted")
        try Follower(table, in: directory).sync()
        let file = "\(directory.path)/\(name).1.sqlite"
        #expect(chown(file, user, user) == 0)
        let error = storeError { try rebooted(name, from: directory) }
        #expect(error?.code == .foreign)
        #expect(error?.message.contains("belongs to user \(user)") == true)
        #expect(chown(file, 0, 0) == 0 && rename(file, file + ".moved") == 0)
        // By a link of another's, what is root's would be taken for a store.
        #expect(symlink(file + ".moved", file) == 0 && lchown(file, user, user) == 0)
        #expect(storeError { try rebooted(name, from: directory) }?.code == .foreign)
        #expect(lchown(file, 0, 0) == 0)
        #expect(try contents(try #require(try rebooted(name, from: directory))).count == 1)
        #expect(chown(directory.path, user, user) == 0)
        let foreign = "belongs to user \(user), neither root's nor this daemon's; "
        #expect(directory.obstacle?.message.hasPrefix(foreign) == true)
        #expect(storeError { try rebooted(name, from: directory) }?.code == .foreign)
      }
    }
  }
}
