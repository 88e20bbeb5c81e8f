/// What a look at a place came to.
enum ClaimOutcome<Value: Sendable>: Sendable {
  case present(Value)
  case held(ClaimRecord)
  /// The caller has to compute it now.
  case claimed(ClaimRecord)
}
