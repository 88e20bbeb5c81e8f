import SharedTable

/// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`.
///
/// The cursor is where in the order of the keys' hashes the next sub-table begins, so nothing is kept between two calls,
/// and a key that is there throughout is answered exactly once. COUNT is a wish: whole sub-tables are visited, of up to
/// a thousand keys, until so many were.
struct ScanRequest {
  private let cursor: UInt64
  private var pattern: Glob?
  private var type: String?
  private var count = 10

  init(_ request: Request) throws(CommandError) {
    guard let cursor = request[1].unsigned else { throw CommandError("ERR invalid cursor") }
    self.cursor = cursor
    // Of several only the last counts; a long one takes some milliseconds to prepare.
    var match: Int?
    var index = 2
    while index < request.count {
      guard index + 1 < request.count else { throw .syntax }
      let value = request[index + 1]
      if request[index].isWord("COUNT") {
        guard let number = value.integer else { throw .notAnInteger }
        guard number >= 1 else { throw .syntax }
        count = number
      } else if request[index].isWord("MATCH") {
        match = index + 1
      } else if request[index].isWord("TYPE") {
        type = value.lowercased
      } else {
        throw .syntax
      }
      index += 2
    }
    if let match { pattern = try Glob(ofKeys: request[match].array) }
  }

  func answer<S: Section & ~Copyable & ~Escapable>(
    _ section: borrowing S, _ reply: inout Reply, _ visible: TableAccess?
  ) throws {
    var found: [[UInt8]] = []
    var bytes = 0
    var visited = 0
    var next = cursor
    repeat {
      next = unsafe try section.scan(from: next) { key, entry in
        visited += 1
        let name = unsafe Bytes(key)
        let typeName = StoredValue.isText(entry.type) ? "string" : entry.type?.name ?? "unknown"
        if let visible, !visible.mayRead(name) { return true }
        let isWanted = pattern?.matches(name) ?? true
        if isWanted, type == nil || type == typeName {
          found.append(unsafe [UInt8](key))
          bytes += key.count + 32
        }
        return true
      }
    } while next != 0 && visited < count && bytes <= reply.limit
    try reply.room(for: bytes)
    reply.array(2)
    reply.bulk("\(next)")
    reply.array(found.count)
    for key in found { reply.bulk(key) }
  }
}
