import Glibc
import SharedTable

extension TableError {
  /// What somebody at a command line is told: what happened and what to do, also what only the command knows.
  var line: String { "\(self)\(more)" }

  private var more: String {
    switch code {
    case .notPermitted where errno == EACCES:
      return "; a table for a group is made by 'shmctl create --mode 660 --group GROUP'"
    case .incompatible:
      return
        "; to keep what it holds, unless shmd stores it: 'shmctl dump -t \(table) -o \(table).dump' with the release that made it; then, "
        + "with this one, 'shmctl drop \(table)'; unless shmd makes it anew 'shmctl create \(table)'; 'shmctl load -t \(table) \(table).dump'"
    case .timedOut where holder.map { ProcessStatus.isAncestor($0.pid) } ?? false:
      // A child of `barrier` waits in vain for what its parent holds.
      if holder?.command == "shmctl" {
        return "; this command runs inside that section: what it holds can be written only after it has ended"
      }
      return "; the holder is a process that started this command"
    default: return ""
    }
  }
}
