import ArgumentParser

/// What the commands take that run a file of operations.
struct OperationOptions: ParsableArguments {
  @Flag(help: "Allow keys that belong to a collection; this damages the collection.")
  var force = false

  @Argument(help: ArgumentHelp("Operations; standard input if none or -.", valueName: "file"))
  var file: RawArgument?
}
