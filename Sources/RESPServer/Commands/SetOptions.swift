/// What SET and GETEX take behind key and value.
struct SetOptions {
  enum Expiry: Equatable {
    case none
    case keep
    case persist
    /// The argument with the time, in milliseconds or seconds, from now or since 1970.
    case time(argument: Int, unit: Int, isRelative: Bool)
  }

  var onlyIfAbsent = false
  var onlyIfPresent = false
  var answersOld = false
  var expiry = Expiry.none

  static let none = SetOptions()

  private init() {}

  /// Whether SET is asked for what was there. Of a request that is refused for its options it may say yes.
  static func asksForOld(_ request: Request) -> Bool {
    (3..<max(3, request.count)).contains { request[$0].isWord("GET") }
  }

  /// - Parameter isRead: GETEX, which takes expiries and PERSIST.
  init(_ request: Request, from first: Int, isRead: Bool) throws(CommandError) {
    var index = first
    while index < request.count {
      let option = request[index]
      if !isRead, option.isWord("NX"), !onlyIfPresent {
        onlyIfAbsent = true
      } else if !isRead, option.isWord("XX"), !onlyIfAbsent {
        onlyIfPresent = true
      } else if !isRead, option.isWord("GET") {
        answersOld = true
      } else if !isRead, option.isWord("KEEPTTL"), expiry == .none || expiry == .keep {
        expiry = .keep
      } else if isRead, option.isWord("PERSIST"), expiry == .none || expiry == .persist {
        expiry = .persist
      } else if let (unit, isRelative) = Self.time(option), index + 1 < request.count, mayBeTime(unit, isRelative) {
        index += 1
        expiry = .time(argument: index, unit: unit, isRelative: isRelative)
      } else {
        throw .syntax
      }
      index += 1
    }
  }

  /// Given twice, an option of one kind counts as it was given last.
  private func mayBeTime(_ unit: Int, _ isRelative: Bool) -> Bool {
    if case .time(_, unit, isRelative) = expiry { return true }
    return expiry == .none
  }

  private static func time(_ option: Bytes) -> (unit: Int, isRelative: Bool)? {
    if option.isWord("EX") { return (1000, true) }
    if option.isWord("PX") { return (1, true) }
    if option.isWord("EXAT") { return (1000, false) }
    if option.isWord("PXAT") { return (1, false) }
    return nil
  }
}
