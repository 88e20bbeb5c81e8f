/// The flags of a section that is a read: none, written `[]`.
public struct ReadFlags: ExpressibleByArrayLiteral, Sendable {
  /// No flags; there are none.
  public init(arrayLiteral elements: Never...) {}
}
