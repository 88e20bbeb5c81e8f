import ArgumentParser
import ToolSupport

extension ByteCount: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}
