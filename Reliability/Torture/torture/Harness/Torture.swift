import ArgumentParser
import Glibc
import TestSupport

struct Torture: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torture",
    abstract: "Kill, stop, damage and exhaust a table in every way there is, and see that it keeps its promises.",
    discussion: """
      Without names every item runs. A name may be an item (images.put-rcu) or the beginning of some (images). Exit \
      status 1 if a promise was broken, 2 if an item could not be run.
      """)

  @Flag(help: "Everything instead of a sample: hours.") var long = false
  @Flag(help: "Print the items and what each tries.") var list = false
  @Flag(help: "Stop at the first broken promise.") var failFast = false
  @Option(help: "Seed of all that is random; a failure prints it.") var seed: UInt64?
  @Option(help: ArgumentHelp("Write the figures there, one Markdown file a group.", valueName: "directory"))
  var report: String?
  @Argument(help: "Items, or beginnings of their names.") var names: [String] = []

  func run() throws {
    let chosen = groups.compactMap { group in
      let items = group.items.filter { item in names.isEmpty || names.contains { item.isNamed($0) } }
      return items.isEmpty ? nil : (group, items)
    }
    for name in names where !groups.contains(where: { $0.items.contains { $0.isNamed(name) } }) {
      throw ValidationError("there is no item \(name); --list shows them")
    }
    if list {
      for (_, items) in chosen { for item in items { say("\(item.name): \(item.summary)") } }
      return
    }
    let seed = seed ?? UInt64.random(in: 1...0xffff_ffff)
    say("torture: seed \(seed), \(long ? "long" : "bounded")")
    var isSound = true
    for (group, items) in chosen {
      let run = Run(group: group, isLong: long, seed: seed, failFast: failFast)
      for item in items { isSound = run.perform(item) && isSound }
      if let report { try run.writeReport(to: report) }
    }
    if !isSound { throw ExitCode(1) }
  }
}
