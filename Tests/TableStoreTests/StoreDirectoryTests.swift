import CSQLite
import Glibc
import Testing

@testable import TableStore

/// Where stores lie.
@Suite struct StoreDirectoryTests {
  /// A reload that only writes the path otherwise moves nothing.
  @Test(arguments: ["/var/lib/shmd/", "//var/lib//shmd", "/var/./lib/shmd/."])
  func aDirectoryIsTheSameHoweverItsPathIsWritten(_ path: String) {
    #expect(StoreDirectory(path) == StoreDirectory("/var/lib/shmd"))
  }

  @Test(arguments: ["/var/lib", "/var/lib/shmd2", "/var/lib/../shmd"]) func anotherDirectoryIsAnother(_ path: String) {
    #expect(StoreDirectory(path) != StoreDirectory("/var/lib/shmd"))
    #expect(StoreDirectory("//").path == "/")
  }

  /// What SQLite could not open or write, SQLite's code and the system's, and what a unit of systemd needs.
  @Test(arguments: [
    (SQLITE_CANTOPEN, EROFS, "ReadWritePaths=/srv/stores ('systemctl edit shmd')"),
    (SQLITE_READONLY, 0, "ReadWritePaths=/srv/stores ('systemctl edit shmd')"),
    (SQLITE_CANTOPEN, EACCES, "StateDirectory="),
  ]) func aRefusalSaysWhatAUnitNeeds(_ code: Int32, _ number: Int32, _ cure: String) {
    let error = StoreError(SQLiteError(code, errno: number), "/srv/stores/orders.1.sqlite")
    #expect(error.code == .readOnly && error.message.contains(cure), "\(error)")
  }
}
