/// All commands, found by name without making a string of it.
struct CommandTable: Sendable {
  static let shared = CommandTable()

  let commands: [Command]
  /// By hash of the name, with open addressing: indices of `commands`, or -1.
  private let slots: [Int16]

  private static let mask = 1023

  private init() {
    commands = Self.list
    var slots = [Int16](repeating: -1, count: Self.mask + 1)
    for (index, command) in commands.enumerated() {
      var slot = Array(command.name.utf8).withBytes { Self.hash($0) }
      while slots[slot] >= 0 { slot = (slot + 1) & Self.mask }
      slots[slot] = Int16(index)
    }
    self.slots = slots
  }

  func find(_ name: Bytes) -> Command? {
    guard name.count <= 32 else { return nil }
    var slot = Self.hash(name)
    while slots[slot] >= 0 {
      let command = commands[Int(slots[slot])]
      if Self.isName(command.name, name) { return command }
      slot = (slot + 1) & Self.mask
    }
    return nil
  }

  private static func isName(_ name: String, _ given: Bytes) -> Bool {
    let utf8 = name.utf8
    guard utf8.count == given.count else { return false }
    var index = 0
    for byte in utf8 {
      if given[index] != byte, given[index] | 0x20 != byte || ASCII.upper(byte) != given[index] { return false }
      index += 1
    }
    return true
  }

  /// The same in either case.
  private static func hash(_ name: Bytes) -> Int {
    var hash: UInt64 = 0
    for index in 0..<name.count { hash = (hash ^ UInt64(ASCII.upper(name[index]))) &* 0x9E37_79B9_7F4A_7C15 }
    return Int(truncatingIfNeeded: hash >> 40) & mask
  }
}
