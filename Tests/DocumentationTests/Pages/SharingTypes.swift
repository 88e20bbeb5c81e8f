import SharedTable
import SharedTableFoundation

// What the page of this name shows. scripts/tidy.sh looks that it does.

struct Sample: SharedStruct {
  static let schemaName = "com.example.sample"
  var time: UInt64
  var value: Double
}

struct Member: Codable, SharedCodable {
  var name: String
  var roles: [String]
  var note: String?
}

func makeAdministrator(_ name: String, in table: Table) throws {
  try table.set("member/\(name)", Member(name: name, roles: ["administrator"]))
}
