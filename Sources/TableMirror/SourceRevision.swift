/// All that one revision changed below the prefix.
public struct SourceRevision: Sendable, Equatable {
  public let number: Int64
  public var events: [SourceEvent]
}
