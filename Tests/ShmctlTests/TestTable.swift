import Foundation
import Glibc
import SharedTable
import TestSupport

/// A table name that no other test uses; whatever lies under it is removed when this goes.
final class TestTable: Sendable {
  let name: String

  /// - Parameter isMade: false for a name without a table.
  init(_ options: Table.Options = Table.Options(capacityBytes: 4 << 20), isMade: Bool = true) throws {
    name = uniqueTableName()
    if isMade { _ = try Table.create(name, options) }
  }

  deinit { removeObjects(ofTable: name) }

  var controlPath: String { "/dev/shm/shmtable.\(name).ctl" }
  var dataPath: String { "/dev/shm/shmtable.\(name).data" }
  var exists: Bool { FileManager.default.fileExists(atPath: dataPath) }

  func open() throws -> Table { try Table.open(name) }

  /// Runs `shmctl -t NAME …`.
  @discardableResult
  func run(
    _ arguments: String..., input: [UInt8]? = nil, user: UInt32? = nil
  ) throws -> CommandRun {
    try CommandRun(["-t", name] + arguments, input: input, user: user)
  }

  @discardableResult
  func run(_ arguments: [String], input: [UInt8]? = nil) throws -> CommandRun {
    try CommandRun(["-t", name] + arguments, input: input)
  }

  /// Overwrites a 64-bit word of both objects' headers.
  func setHeaderWord(_ offset: Int, _ value: UInt64) throws {
    for path in [controlPath, dataPath] {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: unsafe withUnsafeBytes(of: value) { unsafe Data($0) })
    }
  }
}

/// A user who is neither root nor any other test's; nil where we may not become one.
let stranger: UInt32? =
  geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") ? 54_321 : nil
