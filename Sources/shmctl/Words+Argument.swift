import ArgumentParser
import SharedTable

// By the names that the library gives them, and not by the numbers that a table stores.

extension Table.Variant: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var allValueStrings: [String] { allCases.map(\.description) }
  public var defaultValueDescription: String { description }
}

extension Table.StalledReaderPolicy: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var allValueStrings: [String] { allCases.map(\.description) }
  public var defaultValueDescription: String { description }
}
