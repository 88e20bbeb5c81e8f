import SharedTable

/// What tests of waiting and watching ask for; nil for any other command.
func answerEvents(_ words: [String]) throws -> String? {
  switch words[0] {
  case "wait": return "\(try table.waitForCommit(after: UInt64(words[1])!, timeout: .seconds(30)))"
  case "fork-wait": return forked { outcome { "\(try table.waitForCommit(after: 0))" } }
  default: return nil
  }
}
