import ArgumentParser
import SharedTable

// By the names that the library gives them, and not by the numbers that a table stores. The parser shows a default by that number: options that have one
// are optional, and their help says which it is.

extension Table.Variant: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var allValueStrings: [String] { allCases.map(\.description) }
  public static var allValueDescriptions: [String: String] {
    allCases.reduce(into: [:]) { $0[$1.description] = $1.help }
  }

  private var help: String {
    switch self {
    case .rcu: "readers never wait"
    case .rwlock: "readers and writers exclude each other; memory is reused at once"
    }
  }
}

extension Table.StalledReaderPolicy: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var allValueStrings: [String] { allCases.map(\.description) }
  public static var allValueDescriptions: [String: String] {
    allCases.reduce(into: [:]) { $0[$1.description] = $1.help }
  }

  private var help: String {
    switch self {
    case .evict: "the oldest long snapshots end with an error"
    case .refuse: "writes fail, with an error that names the reader"
    case .wait: "writes wait until readers move on, then fail"
    }
  }
}
