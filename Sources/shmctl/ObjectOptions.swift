import ArgumentParser

/// What the commands take that are about a table as a whole: they make, remove, check or repair it.
struct ObjectOptions: ParsableArguments, GeneralOptionsHolder {
  /// Describes the option; the parser gives its value to the root's.
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The table, if its name is no argument; $SHM_TABLE and the settings file do not count here.", valueName: "name"))
  var table: RawArgument?

  @OptionGroup var general: GeneralOptions

  /// The table that a command is about as a whole: by position or by -t, and never one that was not named.
  /// - Parameter root: the parser gives it an option that it has too, wherever that stands.
  func object(_ name: RawArgument?, _ root: Shmctl) throws -> String {
    switch (name, root.options.table) {
    case (let name?, nil): return name.text
    case (nil, let table?): return table.text
    case (_?, _?): throw Complaint.usage("the table is named twice; give it once, as the argument or by -t")
    case (nil, nil):
      throw Complaint.usage("which table? give its name ($SHM_TABLE does not count here); 'shmctl tables' lists them")
    }
  }
}
