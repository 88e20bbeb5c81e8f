/// The filters of `CLIENT KILL`: `[ID id] [TYPE type] [USER name] [ADDR address] [LADDR address] [SKIPME yes|no]`.
struct ClientFilter {
  private var id: Int?
  /// `.some(nil)`: one of which there are none.
  private var kind: ClientRecord.Kind??
  private var address: String?
  private var localAddress: String?
  private var skipsAsking = true

  /// - Parameter first: the place of the first filter's name.
  init(_ request: Request, from first: Int) throws(CommandError) {
    for place in stride(from: first, to: request.count, by: 2) {
      guard place + 1 < request.count else { throw .syntax }
      try read(request[place], request[place + 1])
    }
  }

  private mutating func read(_ name: Bytes, _ value: Bytes) throws(CommandError) {
    if name.isWord("ID") {
      guard let number = value.integer, number > 0 else {
        throw CommandError("ERR client-id should be greater than 0")
      }
      id = number
    } else if name.isWord("TYPE") {
      kind = .some(try Self.kind(value))
    } else if name.isWord("USER") {
      // All clients are that user's.
      guard value.text == ClientRecord.userName else { throw CommandError("ERR No such user '", quoting: value, "'") }
    } else if name.isWord("ADDR") {
      address = value.text
    } else if name.isWord("LADDR") {
      localAddress = value.text
    } else if name.isWord("SKIPME"), value.isWord("YES") || value.isWord("NO") {
      skipsAsking = value.isWord("YES")
    } else {
      throw .syntax
    }
  }

  /// - Returns: nil for masters and replicas, of which there are none.
  static func kind(_ name: Bytes) throws(CommandError) -> ClientRecord.Kind? {
    switch name.lowercased {
    case "normal": .normal
    case "pubsub": .subscriber
    case "master", "replica", "slave": nil
    default: throw CommandError("ERR Unknown client type '", quoting: name, "'")
    }
  }

  func passes(_ client: ClientRecord, asking: ClientRecord) -> Bool {
    if skipsAsking, client === asking { return false }
    if let id, client.id != id { return false }
    if let kind, client.current.kind != kind { return false }
    if let address, client.address != address { return false }
    if let localAddress, client.localAddress != localAddress { return false }
    return true
  }
}
