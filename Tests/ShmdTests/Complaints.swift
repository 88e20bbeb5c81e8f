@testable import ShmdCore

/// All that is said about a configuration, named `f`.
func complaints(about text: String) -> [String] {
  do {
    _ = try ConfigurationReader.parse(text, file: "f")
    return []
  } catch {
    return error.problems.map(\.description)
  }
}
