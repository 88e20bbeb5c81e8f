import ArgumentParser
import Glibc
import SharedTable

@main
enum Main {
  static func main() {
    StandardDescriptors.openClosed()
    // A parent that ignores it hands that down: the kernel would reap our children, waitpid(2) fail, and no signal tell of
    // a command's end, for which `barrier` waits while it holds the table.
    _ = signal(SIGCHLD, SIG_DFL)
    exit(run(CommandWords.ofProcess).rawValue)
  }

  private static func run(_ words: CommandWords) -> ExitStatus {
    do {
      if let script = try completionScript(words) {
        try StandardOutput.write(Array(script.text.utf8))
        return .success
      }
      var command = try parse(words)
      try command.run()
      return .success
    } catch {
      return end(error, words)
    }
  }

  /// The parser brings an option for this, whose scripts know nothing of keys and tables: ours stand in their place.
  private static func completionScript(_ words: CommandWords) throws -> CompletionScript? {
    let option = "--generate-completion-script"
    guard let first = words.forParser.first, first == option || first.hasPrefix(option + "=") else { return nil }
    let shells = (first == option ? [] : [String(first.dropFirst(option.count + 1))]) + words.forParser.dropFirst()
    guard shells.count == 1, let script = shells.first.flatMap(CompletionScript.init) else {
      throw Complaint.usage("of which shell? 'shmctl --generate-completion-script' takes bash, zsh or fish")
    }
    return script
  }

  /// The command that the words ask for; a word that is no command gets one line, and the nearest that is one.
  private static func parse(_ words: CommandWords) throws -> any ParsableCommand {
    if let command = PlainWords.command(words) { return command }
    if let name = words.unknownToHelp { throw noCommand(name) }
    do {
      return try Shmctl.parseAsRoot(words.forParser)
    } catch {
      guard Shmctl.exitCode(for: error) != .success else { throw error }
      // What is wrong with them has a status, which an error of the parser's does not carry.
      _ = try Settings.current()
      guard let name = words.command, !Shmctl.has(command: name) else { throw error }
      throw noCommand(name)
    }
  }

  private static func noCommand(_ name: [UInt8]) -> Complaint {
    let near = Suggestion.command(like: String(decoding: name, as: UTF8.self)).map { "did you mean '\($0)'? " } ?? ""
    return .usage("there is no command '\(String.printableStart(name))'; \(near)see 'shmctl --help'")
  }

  /// Says what there is to say about an error.
  private static func end(_ error: any Error, _ words: CommandWords) -> ExitStatus {
    switch error {
    case let status as ExitStatus:
      return status
    case let error as TableError:
      StandardError.write(error.line)
      return ExitStatus(error.code)
    case let complaint as Complaint:
      StandardError.write(complaint.message)
      return complaint.status
    default:
      return endParsing(error, words)
    }
  }

  /// The parser's own: help and version asked for, or a usage error in one line. Its exit code for those is 64, ours 2.
  private static func endParsing(_ error: any Error, _ words: CommandWords) -> ExitStatus {
    let text = Shmctl.fullMessage(for: error)
    if Shmctl.exitCode(for: error) == .success {
      do { try StandardOutput.write(line: text) } catch { return end(error, words) }
      return .success
    }
    StandardError.write(oneLine(Shmctl.message(for: error), text, UsageHint(words)))
    return .usage
  }

  private static func oneLine(_ message: String, _ text: String, _ hint: UsageHint) -> String {
    let summary = summary(message)
    var parts = [summary]
    let lines = text.split(separator: "\n")
    if let help = lines.first(where: { $0.hasPrefix("Help:") }) {
      parts.append(String(help.dropFirst("Help:".count).drop { $0 == " " }))
    }
    if let hint = hint.text(for: summary) { parts.append(hint) }
    let see = lines.last { $0.hasPrefix("  See '") }?.split(separator: "'").dropFirst().first
    parts.append("see '\(see ?? "shmctl --help")'")
    return parts.map { $0.last == "." ? String($0.dropLast()) : $0 }.joined(separator: "; ")
  }

  /// The message's first line, with the words that the following ones list.
  private static func summary(_ message: String) -> String {
    let lines = message.split(separator: "\n")
    guard let first = lines.first else { return "Usage error" }
    if let near = Suggestion.ofParser(in: first), near.isFar { return near.rest }
    let choices = lines.dropFirst().filter { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
    return choices.isEmpty ? String(first) : "\(first.drop { $0 == " " }) \(choices.joined(separator: ", "))"
  }
}
