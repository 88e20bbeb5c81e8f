import Glibc
import SharedTable

/// What the story's processes do with the table. Each takes commands on stdin and answers on stdout, line by line.
enum Role: String {
  /// Reads as fast as it can, on command, and checks that it never sees a part of a write.
  case reader
  /// Stores all packages in one barrier.
  case loader
  /// Begins to store them anew and stops half-way, inside its barrier, to be killed there.
  case victim

  func run(on table: Table) throws {
    switch self {
    case .reader: try read(table)
    case .loader: try load(table)
    case .victim: try stopHalfway(table)
    }
  }

  // MARK: - Writers

  /// One barrier: whoever reads sees all packages of the old generation or all of the new one.
  private func load(_ table: Table) throws {
    let packages = try DebianPackage.installed()
    let begin = now()
    let generation = try table.barrier { tx in
      let generation = try tx.increment("demo.generation")
      for package in packages { try tx.set(package.name, package.value(generation)) }
      return generation
    }
    answer("\(generation) \(packages.count) \(now() - begin)")
  }

  private func stopHalfway(_ table: Table) throws {
    let packages = try DebianPackage.installed()
    try table.barrier { tx in
      let generation = try tx.increment("demo.generation")
      for package in packages.prefix(packages.count / 2) { try tx.set(package.name, package.value(generation)) }
      answer("inside \(packages.count / 2)")
      _ = readLine()  // Never answered: here we are killed.
    }
  }

  // MARK: - Readers

  private func read(_ table: Table) throws {
    let names = try DebianPackage.installed().map(\.name)
    answer("ready")
    while let command = readLine() {
      switch command {
      case "measure":
        let result = measure(table, names, nanoseconds: 300_000_000)
        answer("\(result.sections) \(result.torn) \(result.problem ?? "-")")
      case "once":
        answer("asking")
        let begin = now()
        _ = try table.read(timeout: .seconds(60)) { view in view.version }
        answer("\(now() - begin)")
      case "generation":
        answer("\(try table.get("demo.generation", as: Int.self) ?? 0)")
      default: throw Trouble("reader: no command '\(command)'")
      }
    }
  }

  /// Opens one read section after the other for a while; in each, four lookups that must belong together.
  private func measure(_ table: Table, _ names: [String], nanoseconds: Int) -> Measurement {
    var result = Measurement()
    let end = now() + nanoseconds
    var index = Int.random(in: 0..<names.count)
    while now() < end {
      do {
        let consistent = try table.read(timeout: .milliseconds(100)) { view in
          let generation = try view.get("demo.generation", as: Int.self)
          for _ in 0..<3 {
            index = (index + 7) % names.count
            let value = try view.get(names[index], as: String.self)
            guard value.flatMap(DebianPackage.generation) == generation else { return false }
          }
          return true
        }
        result.sections += 1
        if !consistent { result.torn += 1 }
      } catch {
        result.problem = "\(error)"
      }
    }
    return result
  }

  private struct Measurement {
    var sections = 0
    var torn = 0
    var problem: String?
  }
}
