import SharedTable
import ToolSupport

extension JSONObject {
  /// That the table's name is a stranger's, and whose.
  mutating func add(foreignOwner owner: Table.Owner) {
    add("foreign", true)
    add("owner", owner.id)
    if let name = owner.name { add("ownerName", name) }
  }
}
