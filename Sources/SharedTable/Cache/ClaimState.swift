enum ClaimState<Value: Sendable>: Sendable {
  case present(Value)
  case computing
  /// Nobody computes it any more, and it is not there.
  case gone
}
