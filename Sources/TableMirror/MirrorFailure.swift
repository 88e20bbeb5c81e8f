/// Why a mirror does not follow.
public enum MirrorFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// Another try may go better: not reached, no leader, not admitted, the table was held by somebody.
  case away(String)
  /// The events from the revision on that was asked for are not there any more.
  case compacted
  /// What was asked for is more than an answer may be.
  case answerTooLarge
  /// No answer came within a call's time: nobody is there, or it is more than comes in that time.
  case noAnswerInTime(String)
  /// Nothing will change until somebody does something.
  case stopped(String)

  public var description: String {
    switch self {
    case .away(let why), .noAnswerInTime(let why): why
    case .compacted: "the revisions in between were compacted away"
    case .answerTooLarge: "an answer is larger than is accepted"
    case .stopped(let why): why
    }
  }

  /// Asking for less may go better.
  var mayBeOfSize: Bool {
    switch self {
    case .answerTooLarge, .noAnswerInTime: true
    case .away, .compacted, .stopped: false
    }
  }
}
