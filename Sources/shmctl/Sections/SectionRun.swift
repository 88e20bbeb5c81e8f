import ArgumentParser
import Glibc
import SharedTable

/// What `read` and `barrier` have in common.
enum SectionRun {
  static let common = """
    The wait for the table lasts --timeout at most (exit 7, naming who holds it), and Ctrl-C and SIGTERM end it with \
    shmctl. The exit status is the command's, or 128 and the number of the signal that ended it; 126 and 127 if it \
    cannot be run. $SHM_TABLE is the table for it. Once it runs, Ctrl-C and SIGTERM end the command, then the section. If \
    shmctl itself is killed (SIGKILL), the table is free at once though the command goes on.
    """

  static func check(_ command: [RawArgument], _ name: String) throws {
    if command.isEmpty { throw ValidationError("Give the command after '--': shmctl \(name) -- COMMAND") }
  }

  static func child(_ command: [RawArgument], _ table: Table) -> ChildCommand {
    ChildCommand(
      ChildProcess(words: command.map(\.bytes), additions: [("SHM_TABLE", Array(table.name.utf8))]))
  }

  /// Ends with the command's status, after the section has ended.
  static func end(_ section: () throws -> Int32) throws {
    do {
      let status = try section()
      if status != 0 { exit(status) }
    } catch let error as ChildProcess.CannotStart {
      StandardError.write(error.message)
      exit(error.status)
    }
  }
}
