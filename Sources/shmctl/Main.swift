import ArgumentParser
import Glibc
import SharedTable

@main
enum Main {
  static func main() {
    Descriptor.openStandard()
    exit(run(RawArgument.all).rawValue)
  }

  private static func run(_ arguments: [String]) -> ExitStatus {
    do {
      var command = try Shmctl.parseAsRoot(arguments)
      try command.run()
      return .success
    } catch {
      return end(error)
    }
  }

  /// Says what there is to say about an error.
  private static func end(_ error: any Error) -> ExitStatus {
    switch error {
    case let status as ExitStatus:
      return status
    case let error as TableError:
      let status = ExitStatus(error.code)
      StandardError.write(error.message.contains(";") ? "\(error)" : "\(error); \(status.advice)")
      return status
    case let complaint as Complaint:
      StandardError.write(complaint.message)
      return complaint.status
    default:
      return endParsing(error)
    }
  }

  /// The parser's own: help and version asked for, or a usage error in one line. Its exit code for those is 64, ours 2.
  private static func endParsing(_ error: any Error) -> ExitStatus {
    let text = Shmctl.fullMessage(for: error)
    if Shmctl.exitCode(for: error) == .success {
      do { try StandardOutput.write(line: text) } catch { return end(error) }
      return .success
    }
    StandardError.write(oneLine(Shmctl.message(for: error), text))
    return .usage
  }

  private static func oneLine(_ message: String, _ text: String) -> String {
    var parts = [message.split(separator: "\n").first.map(String.init) ?? "Usage error"]
    let lines = text.split(separator: "\n")
    if let help = lines.first(where: { $0.hasPrefix("Help:") }) {
      parts.append(String(help.dropFirst("Help:".count).drop { $0 == " " }))
    }
    let see = lines.last { $0.hasPrefix("  See '") }?.split(separator: "'").dropFirst().first
    parts.append("see '\(see ?? "shmctl --help")'")
    return parts.map { $0.last == "." ? String($0.dropLast()) : $0 }.joined(separator: "; ")
  }
}
