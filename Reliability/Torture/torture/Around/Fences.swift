import CTrace
import SharedTable
import TestSupport

/// What a missing fence does shows once in a great many reads, if ever. So a get is looked at instruction by
/// instruction: without membarrier one of them must lock the bus, with it none may.
func fencesOfAGet(_ run: Run) throws {
  #if arch(x86_64)
    for isDenied in [false, true] {
      try withTableName { name in
        let table = try Table.create(name, .init(capacityBytes: 1 << 20))
        try table.set(StalledContents.key(1), StalledContents.value(1, round: 0))
        let reader = try Tracee("step-through", [name, "into a buffer"] + (isDenied ? ["denied"] : []))
        try reader.send("next")
        _ = try reader.runToMarker(1)
        var (steps, locked) = (0, 0)
        while true {
          var registers = try reader.registers()
          if locksTheBus(reader.read(ct_instruction_pointer(&registers), count: 4) ?? []) { locked += 1 }
          if case .syscallEntry(let number, let arguments) = try reader.step(),
            Tracee.markerCode(number, arguments) == 2
          {
            break
          }
          steps += 1
        }
        try run.expect(
          isDenied ? locked == 1 : locked == 0,
          "a get \(isDenied ? "without" : "with") membarrier locks \(locked) times")
        try reader.send("end")
        try reader.finish()
        run.row(
          isDenied ? "membarrier denied" : "membarrier allowed", "one get, \(steps) instructions",
          "\(locked) of them lock the bus")
      }
    }
  #else
    throw NotRun("instructions are known for x86-64 only")
  #endif
}

/// A LOCK prefix, or XCHG with memory, which locks without one.
private func locksTheBus(_ bytes: [UInt8]) -> Bool {
  // Operand size, and REX, come before the opcode.
  let code = bytes.drop { $0 == 0x66 || (0x40...0x4f).contains($0) }
  guard let first = code.first, let second = code.dropFirst().first else { return false }
  return first == 0xf0 || ((first == 0x86 || first == 0x87) && second < 0xc0)
}
