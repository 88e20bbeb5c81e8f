/// `CLIENT REPLY`: which answers are kept from being sent.
enum ReplySuppression {
  case none
  case all
  /// The answer to the command behind the running one.
  case next
  /// The answer to the running one.
  case this

  /// Whether the answer to the running command is kept back.
  var keepsBack: Bool {
    switch self {
    case .none, .next: false
    case .all, .this: true
    }
  }

  /// The running command has answered.
  mutating func apply(to reply: inout Reply, from start: Int) {
    switch self {
    case .none: return
    case .all: break
    case .next: self = .this
    case .this: self = .none
    }
    reply.rollBack(to: start)
  }
}
