import SharedTable

extension WriteCommand {
  /// Refuses a command that would change a key of a program's collection: that is several keys, which Redis' commands do not keep together.
  ///
  /// One look for each key that it stores or removes.
  func refuseCollections<S: WriteSection & ~Copyable & ~Escapable>(_ request: Request, _ tx: borrowing S) throws {
    for place in changedKeys(of: request.count) {
      let key = request[place]
      guard let name = try unsafe tx.nameOfCollection(of: key.raw) else { continue }
      throw CommandError.ofCollection(key, name)
    }
    // A copy of its header would count elements that are not there, and nothing could be stored under the copy's name.
    if self == .copy, let name = try unsafe tx.nameOfCollection(of: request[1].raw), name.count == request[1].count {
      throw CommandError.ofCollection(request[1], name)
    }
  }

  /// The places of the keys that it stores or removes among so many arguments.
  private func changedKeys(of count: Int) -> StrideTo<Int> {
    switch self {
    case .flushdb: stride(from: 0, to: 0, by: 1)
    // Without an option it only reads.
    case .getex where count == 2: stride(from: 0, to: 0, by: 1)
    case .mset, .msetnx: stride(from: 1, to: count, by: 2)
    case .del: stride(from: 1, to: count, by: 1)
    case .rename, .renamenx: stride(from: 1, to: 3, by: 1)
    case .copy: stride(from: 2, to: 3, by: 1)
    default: stride(from: 1, to: 2, by: 1)
    }
  }
}

extension CommandError {
  fileprivate static func ofCollection(_ key: Bytes, _ name: [UInt8]) -> CommandError {
    let what = key.count == name.count ? "is" : "belongs to"
    return name.withBytes { name in
      CommandError(
        bytes: "WRONGTYPE key '".utf8 + key.quoted(most: 128) + "' \(what) a program's collection, '".utf8
          + name.quoted(most: 128) + "', which this would damage: change it by such a program, or by shmctl".utf8)
    }
  }
}
