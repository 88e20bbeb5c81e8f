/// What a store answers to the question how long a lease lasts.
public enum LeaseTTL: Sendable, Equatable {
  /// From the moment of the answer on, and at most.
  case lasts(Duration)
  /// The store does not know the lease: its keys are being removed.
  case isUnknown
  /// The store cannot say just now. It is to be asked again.
  case cannotBeToldNow
}
