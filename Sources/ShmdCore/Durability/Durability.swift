import TableStore

/// Whether a table comes back after a reboot, and how much of it a power cut may take.
public enum Durability: Sendable, Equatable {
  /// It lies in memory alone.
  case none
  /// Stored so often: a power cut takes what came since.
  case relaxed(Duration)
  /// Stored at once; who wants to know waits for it (`waitUntilDurable`, `shmctl set --sync`).
  case everyBarrier

  /// What its keeper goes by; nil: it has none.
  var mode: StoreMode? {
    switch self {
    case .none: nil
    case .relaxed(let interval): .relaxed(interval)
    case .everyBarrier: .everyBarrier
    }
  }
}

extension Scalars {
  /// `none`, `every-barrier`, `relaxed` (every second), or `relaxed(500ms)`.
  static func durability(_ text: String) throws(Complaint) -> Durability {
    switch text {
    case "none": return .none
    case "every-barrier": return .everyBarrier
    case "relaxed": return .relaxed(.seconds(1))
    default: break
    }
    guard text.hasPrefix("relaxed("), text.hasSuffix(")") else {
      throw Complaint(
        "\(text.quotedExcerpt) is not a durability; choose one of none, relaxed, relaxed(500ms), every-barrier")
    }
    return .relaxed(try interval(String(text.dropFirst(8).dropLast())))
  }
}
