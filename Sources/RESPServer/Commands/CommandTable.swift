/// All commands, found by name without making a string of it.
@safe
struct CommandTable: Sendable {
  static let shared = CommandTable()

  let commands: [Command]
  /// By hash of the name, with open addressing. Never freed, as the commands: no look counts a reference to either.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>

  @safe
  private struct Slot {
    var name = Name()
    var command: Unmanaged<Command>?
  }

  /// A command's name in two words, the first letter lowest, and its length in the highest byte: the longest has 12 letters.
  ///
  /// Without their bit of case two bytes are equal if they are the same letter, and no other byte becomes a letter so. The names of
  /// commands have nothing but letters.
  private struct Name: Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    static let longest = 15
    private static let withoutCase: UInt64 = 0xDFDF_DFDF_DFDF_DFDF

    init() {}

    init(_ name: Bytes) {
      let count = name.count
      low = name.word(at: 0, min(count, 8)) & Self.withoutCase
      if count > 8 { high = name.word(at: 8, count &- 8) & Self.withoutCase }
      high |= UInt64(truncatingIfNeeded: count) << 56
    }

    var slot: Int { Int(truncatingIfNeeded: ((low ^ high &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 54) }
  }

  /// As many as ten bits tell.
  private static let slotCount = 1024

  private static func slot(after slot: Int) -> Int { (slot &+ 1) & (slotCount &- 1) }

  private init() {
    commands = Self.list
    unsafe slots = .allocate(capacity: Self.slotCount)
    unsafe slots.initialize(repeating: Slot(), count: Self.slotCount)
    for command in commands {
      let name = Array(command.name.utf8).withBytes { bytes in
        precondition(1...Name.longest ~= bytes.count && command.name.utf8.allSatisfy { 97...122 ~= $0 })
        return Name(bytes)
      }
      var slot = name.slot
      while unsafe slots[slot].command != nil { slot = Self.slot(after: slot) }
      unsafe slots[slot] = Slot(name: name, command: .passRetained(command))
    }
  }

  /// - Returns: without a reference that is counted, since commands are never freed.
  func find(_ name: Bytes) -> Unmanaged<Command>? {
    guard 1...Name.longest ~= name.count else { return nil }
    let name = Name(name)
    var slot = name.slot
    while let command = unsafe slots[slot].command {
      if unsafe slots[slot].name == name { return unsafe command }
      slot = Self.slot(after: slot)
    }
    return nil
  }
}
