/// All commands, found by name without making a string of it.
struct CommandTable: Sendable {
  static let shared = CommandTable()

  let commands: [Command]
  /// By hash of the name, with open addressing.
  private let slots: [Slot]

  /// A name in upper case, and its command.
  private struct Slot {
    let name: Name
    let command: Command?
  }

  /// A command's name in upper case, in two words: the longest has 12 letters.
  private struct Name: Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    static let longest = 16

    init(_ name: Bytes) {
      for index in 0..<min(name.count, 8) { low = low << 8 | UInt64(ASCII.upper(name[index])) }
      for index in 8..<max(8, name.count) { high = high << 8 | UInt64(ASCII.upper(name[index])) }
    }

    var slot: Int { Int(truncatingIfNeeded: ((low ^ high &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask }
  }

  private static let mask = 1023

  private init() {
    commands = Self.list
    let empty = Slot(name: Array("".utf8).withBytes { Name($0) }, command: nil)
    var slots = [Slot](repeating: empty, count: Self.mask + 1)
    for command in commands {
      let name = Array(command.name.utf8).withBytes { bytes in
        precondition(bytes.count <= Name.longest)
        return Name(bytes)
      }
      var slot = name.slot
      while slots[slot].command != nil { slot = (slot + 1) & Self.mask }
      slots[slot] = Slot(name: name, command: command)
    }
    self.slots = slots
  }

  func find(_ name: Bytes) -> Command? {
    guard name.count <= Name.longest, !name.isEmpty else { return nil }
    let name = Name(name)
    var slot = name.slot
    while let command = slots[slot].command {
      if slots[slot].name == name { return command }
      slot = (slot + 1) & Self.mask
    }
    return nil
  }
}
