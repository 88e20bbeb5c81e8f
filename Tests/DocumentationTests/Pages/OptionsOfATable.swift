import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

func ordersOfAGroup() throws -> Table {
  let table = try Table.openOrCreate("orders", Table.Options(capacityBytes: 256 << 20, mode: 0o660, group: 33))
  return table
}
