/// The two objects' names for a table's.
public enum ObjectName {
  public static let prefix = "shmtable."
  static let controlSuffix = ".ctl"
  static let dataSuffix = ".data"
  /// NAME_MAX less prefix and suffix.
  public static let maximumLength = 200

  package static func control(_ table: String) -> String { prefix + table + controlSuffix }
  package static func data(_ table: String) -> String { prefix + table + dataSuffix }

  /// The table that an object of this name belongs to; nil if to none.
  public static func table(ofObject object: String) -> String? {
    for suffix in [dataSuffix, controlSuffix] where object.hasPrefix(prefix) && object.hasSuffix(suffix) {
      let table = String(object.dropFirst(prefix.count).dropLast(suffix.count))
      if isValid(table) { return table }
    }
    return nil
  }

  /// Letters, digits and `. _ - @ : +`; 1 to 200 bytes; not starting with a dot.
  public static func isValid(_ table: String) -> Bool {
    let bytes = table.utf8
    guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= maximumLength else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: ":"),
        UInt8(ascii: "+"):
        true
      default: false
      }
    }
  }
}
