import ArgumentParser

/// Who may read and write, in octal digits as chmod(1) takes them.
struct Mode: ExpressibleByArgument, CustomStringConvertible {
  let bits: UInt32

  init(bits: UInt32) { self.bits = bits }

  init?(argument: String) {
    guard argument.allSatisfy({ ("0"..."7").contains($0) }), let bits = UInt32(argument, radix: 8) else { return nil }
    self.bits = bits
  }

  var description: String { "0" + String(bits, radix: 8) }
}
