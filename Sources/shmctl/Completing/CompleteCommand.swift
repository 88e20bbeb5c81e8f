import ArgumentParser

/// What the shells' completions ask: `shmctl complete -- WORDS`, of which the last is the one to complete.
struct CompleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete", abstract: "Print the completions of the last word, one a line.",
    discussion: "A line ':files' stands for the names of files.", shouldDisplay: false)

  @Argument(parsing: .postTerminator, help: "The words behind the program's name.")
  var words: [RawArgument] = []

  func run() throws {
    let completion = Completion(of: words.map(\.text))
    var output = OutputBuffer()
    if completion.wantsFiles { try output.append(line: ":files") }
    for word in completion.words { try output.append(line: word) }
    try output.flush()
  }
}
