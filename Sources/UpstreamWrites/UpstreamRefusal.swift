/// Why a write to a mirrored table was not made, or is not known to have been.
public enum UpstreamRefusal: Error, Sendable, Equatable {
  /// The store is not followed just now. Nothing was sent.
  case away(String)
  /// The store refuses it as it is: too large, too many keys. Nothing was changed.
  case refused(String)
  /// The store does not admit who asked. Nothing was changed.
  case notPermitted(String)
  /// It was sent, and no answer came: it may have been made, or may yet be.
  case unsure(String)
}
