/// What a contestant is: its bar's colour, and what may be compared with what.
enum Kind: CaseIterable {
  case ours
  /// Another store that processes share.
  case shared
  /// Lives in one process.
  case oneProcess
  /// What the others are measured by.
  case reference

  init(of contestant: String) {
    func isOne(of names: [String]) -> Bool { names.contains { contestant.hasPrefix($0) } }
    if isOne(of: ["floor", "raw", "robust mutex", "echo", "pipe"]) || contestant.hasSuffix("released alone") {
      self = .reference
    } else if isOne(of: ["LMDB", "Boost", "Redis", "memcached", "redis-cli"]) {
      self = .shared
    } else if isOne(of: ["rculfhash", "rte_hash", "GCD", "Mutex", "recursive lock", "actor", "AsyncStream"]) {
      self = .oneProcess
    } else {
      self = .ours
    }
  }

  var colour: String {
    switch self {
    case .ours: "#0969da"
    case .shared: "#bc4c00"
    case .oneProcess: "#8c959f"
    case .reference: "#d0d7de"
    }
  }

  var label: String {
    switch self {
    case .ours: "SharedTable"
    case .shared: "other stores that processes share"
    case .oneProcess: "in one process"
    case .reference: "reference"
    }
  }
}
