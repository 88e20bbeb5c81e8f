import Glibc
import TableEngine

/// Read sections that check whether somebody writes into the values that they look at: for finding mistakes, in debug builds, and in
/// release builds with the package's trait `CheckedReads`. Other builds do not contain the check.
extension Table {
  /// Whether this build can check read sections.
  public static var canCheckReads: Bool {
    #if DEBUG || CheckedReads
      true
    #else
      false
    #endif
  }

  /// Runs `body` on one snapshot, as ``read(timeout:_:)`` does, and checks that nothing it saw was written meanwhile.
  ///
  /// Values that `body` uses in place lie in a read-only mapping, which exists as long as the section. A store through a
  /// pointer into it, or a use after the section's end, ends the process with SIGSEGV at the guilty instruction. Stores that reach the
  /// values by another way, from whatever process, are found at the end, by checksums. An observer's section
  /// is not checked: all that it sees is read-only, or its own copy.
  ///
  /// Costs some system calls, and reads the values twice more. With `SHAREDTABLE_CHECK_READS` in the environment,
  /// every read section is checked. In a build that cannot check (``canCheckReads``) this is `read`.
  /// - Throws: what ``read(timeout:_:)`` throws; `damaged`, naming a key, whatever `body` did; `full` if the address
  ///   space has no room for a second mapping.
  @inlinable
  public func checkedRead<R: ~Copyable>(
    timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R
  ) throws -> R {
    #if DEBUG || CheckedReads
      try runChecked(try beginRead(timeout), body)
    #else
      try read(timeout: timeout, body)
    #endif
  }

  #if DEBUG || CheckedReads
    /// The environment as it was at the process's first section.
    @usableFromInline static let checksEveryRead = unsafe getenv("SHAREDTABLE_CHECK_READS") != nil

    /// Runs `body` in an open section, watched over, and closes it.
    @usableFromInline
    func runChecked<R: ~Copyable>(_ section: ReadSection, _ body: (borrowing ReadView) throws -> R) throws -> R {
      defer { segment.endRead(section) }
      var section = section
      section.check = try readCheck()
      do {
        let result = try body(ReadView(self, section))
        try verify(section)
        return result
      } catch {
        // Says more than what `body` made of the damage.
        try verify(section)
        throw error
      }
    }

    private func readCheck() throws(TableError) -> CheckedReadWatch? {
      do { return try CheckedReadWatch(segment) } catch { throw named(error) }
    }

    private func verify(_ section: ReadSection) throws(TableError) {
      do { try section.check?.verify() } catch { throw named(error) }
    }
  #endif
}
