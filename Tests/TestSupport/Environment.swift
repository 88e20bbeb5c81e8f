import Glibc

/// A number that the environment sets for the tests.
public func environment(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
