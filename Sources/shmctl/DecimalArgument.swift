import ArgumentParser

/// An argument in decimal, possibly negative.
struct DecimalArgument: ExpressibleByArgument {
  let value: Int

  init?(argument: String) {
    guard let value = Int(RawArgument(argument: argument).text) else { return nil }
    self.value = value
  }
}
