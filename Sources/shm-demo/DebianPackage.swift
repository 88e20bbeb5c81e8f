import Glibc

/// A stanza of the machine's package database.
struct DebianPackage {
  let name: String
  let stanza: Substring

  static let database = "/var/lib/dpkg/status"

  static func installed() throws -> [DebianPackage] {
    let text = String(decoding: try contents(of: database), as: UTF8.self)
    var packages: [DebianPackage] = []
    var rest = Substring(text)
    while !rest.isEmpty {
      let end = rest.firstRange(of: "\n\n")
      let stanza = end.map { rest[..<$0.lowerBound] } ?? rest
      rest = end.map { rest[$0.upperBound...] } ?? ""
      guard stanza.hasPrefix("Package: ") else { continue }
      packages.append(DebianPackage(name: String(stanza.dropFirst(9).prefix { $0 != "\n" }), stanza: stanza))
    }
    guard packages.count > 1 else { throw Trouble("\(database) lists no packages") }
    return packages
  }

  /// What is stored: the generation in front tells readers which write a value belongs to.
  func value(_ generation: Int) -> String { "Generation: \(generation)\n\(stanza)" }

  static func generation(_ value: String) -> Int? {
    Int(value.dropFirst("Generation: ".count).prefix { $0 != "\n" })
  }
}
