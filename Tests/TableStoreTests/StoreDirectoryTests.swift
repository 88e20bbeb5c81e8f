import TableStore
import Testing

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
}
