import Testing

@testable import RESPServer

/// Which command a client's word means.
struct CommandTableTests {
  private func find(_ name: [UInt8]) -> String? {
    name.withBytes { unsafe CommandTable.shared.find($0)?.takeUnretainedValue().name }
  }

  @Test func aCommandIsFoundInAnyCase() {
    for command in CommandTable.shared.commands {
      let name = Array(command.name.utf8)
      #expect(find(name) == command.name)
      #expect(find(Array(command.name.uppercased().utf8)) == command.name)
      #expect(find(name.enumerated().map { $0 % 2 == 0 ? $1 : $1 - 32 }) == command.name)
    }
  }

  /// A bit more or less, a byte more or less: it is another word.
  @Test func nothingElseIsTakenForACommand() {
    let names = Set(CommandTable.shared.commands.map(\.name))
    for command in CommandTable.shared.commands {
      let name = Array(command.name.utf8)
      for index in name.indices {
        for bit in 0..<8 where bit != 5 {
          var other = name
          other[index] ^= 1 << bit
          let text = String(decoding: other, as: UTF8.self).lowercased()
          #expect(find(other) == (names.contains(text) ? text : nil), "\(other)")
        }
      }
      for byte: UInt8 in [0, 32, 0x20 ^ 0xff] {
        #expect(find(name + [byte]) == nil)
        #expect(find(name + [UInt8](repeating: byte, count: 15 - name.count)) == nil)
        #expect(find(name + [UInt8](repeating: byte, count: 16)) == nil)
      }
    }
    #expect(find([]) == nil)
  }
}
