import Glibc
import SharedMemory
import SharedTable

/// logind's habit of removing what lies in /dev/shm when its owner's last session ends: logind.conf(5), `RemoveIPC=`, on by
/// default, for users from 1000 on who do not linger.
enum RemoveIPC {
  /// A finding for each owner of tables whom it will hit.
  static func findings(owners: [(id: UInt32, table: String)], configuration: [String]) -> [Finding] {
    guard isOn(configuration) else { return [] }
    return owners.filter { $0.id >= firstLoginUser && !lingers($0.id) }.map { owner in
      let name = HostUserName.of(owner.id)
      return Finding(
        "removeIPC", table: owner.table,
        "logind removes the tables of login user \(name) at the last logout (RemoveIPC)",
        cure: "loginctl enable-linger \(name)    # or let shmd own the table")
    }
  }

  /// The texts of logind.conf and of its drop-ins, in the order in which later ones win.
  static func configuration() -> [String] {
    var texts = ["/usr/lib/systemd/logind.conf", "/etc/systemd/logind.conf"].compactMap { HostFile.read($0) }
    // By name, wherever they lie; of one name the one in /etc counts.
    var dropIns: [String: String] = [:]
    for directory in ["/usr/lib", "/run", "/etc"].map({ $0 + "/systemd/logind.conf.d" }) {
      for name in (try? HostFile.names(in: directory)) ?? [] where name.hasSuffix(".conf") {
        dropIns[name] = directory + "/" + name
      }
    }
    texts += dropIns.sorted { $0.key < $1.key }.compactMap { HostFile.read($0.value) }
    return texts
  }

  static func isOn(_ configuration: [String]) -> Bool {
    var isOn = true
    for text in configuration {
      for line in text.split(separator: "\n") {
        let fields = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
          $0.filter { !$0.isWhitespace }
        }
        guard fields.count == 2, fields[0] == "RemoveIPC" else { continue }
        // An empty value stands for the default; what is none of systemd's words is ignored, with a warning in the journal.
        switch fields[1].lowercased() {
        case "no", "false", "off", "n", "f", "0": isOn = false
        case "yes", "true", "on", "y", "t", "1", "": isOn = true
        default: break
        }
      }
    }
    return isOn
  }

  /// The first user id that is a person's: below, logind leaves shared memory alone.
  private static let firstLoginUser: UInt32 = 1000

  /// What a login user has to know who makes a table; nil for root, system users and lingering users.
  static var warning: String? {
    let user = geteuid()
    guard user >= firstLoginUser, !lingers(user) else { return nil }
    return "it belongs to a login user: logind's RemoveIPC deletes it at the last logout; "
      + "run 'loginctl enable-linger', or let shmd own it"
  }

  /// Whether logind lets what is the user's stay after the last logout.
  private static func lingers(_ user: UInt32) -> Bool {
    guard let name = try? Getent.fields(of: "\(user)", in: "passwd")?.first else { return false }
    return HostFile.exists("/var/lib/systemd/linger/" + name)
  }
}
